// SPDX-License-Identifier: Apache-2.0
// PTX ISA: selp.
#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

template <class X>
void select(Warp& warp, const Operation& operation) {
  const uint32_t all = warp.predicate(operation.c);
  const uint32_t chosen = operation.negated ? ~all : all;
  const X *a = warp.lanes<X>(operation.a), *b = warp.lanes<X>(operation.b);
  X* d = warp.results<X>(operation.to);
  each_lane([&](int l) { d[l] = (chosen & kLane[l]) != 0 ? a[l] : b[l]; });
  warp.keep<X>(operation.to);
}

}  // namespace

Run selp(Decoder& d) {
  const Type type = d.type();
  d.need_operands(4);
  d.operation.to = d.to(0, type);
  d.operation.a = d.from(1, type);
  d.operation.b = d.from(2, type);
  d.operation.c = d.predicate_from(3);
  switch (size_of(type)) {
    case 2: return select<uint16_t>;
    case 4: return select<uint32_t>;
    case 8: return select<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace kernkit::cuda_on_cpu::ptx
