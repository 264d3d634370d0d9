// SPDX-License-Identifier: Apache-2.0
// PTX ISA: createpolicy. A cache policy is an opaque value that changes no result. The simulator
// has no caches, so every policy that is not converted from an access property is zero.
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

void put_zero(Warp& warp, const Operation& operation) {
  auto* d = warp.results<uint64_t>(operation.dst);
  each_lane([&](int l) { d[l] = 0; });
  warp.keep<uint64_t>(operation.dst);
}
void copy_property(Warp& warp, const Operation& operation) {
  const auto* a = warp.lanes<uint64_t>(operation.src0);
  auto* d = warp.results<uint64_t>(operation.dst);
  each_lane([&](int l) { d[l] = a[l]; });
  warp.keep<uint64_t>(operation.dst);
}

}  // namespace

// Decodes createpolicy.fractional policy{, fraction}; createpolicy.range policy, [first], primary
// size, total size; and createpolicy.cvt policy, access property.
Run createpolicy(Decoder& d) {
  d.operation.dst = d.to(0, d.type());
  if (d.has("cvt")) {
    d.need_operands(2);
    d.operation.src0 = d.from(1, Type::kB64);
    return copy_property;
  }
  if (d.has("range")) {
    d.need_operands(4);
    d.address(1, d.has("global") ? Space::kGlobal : Space::kGeneric);
    d.operation.src0 = d.from(2, Type::kU32);
    d.operation.src1 = d.from(3, Type::kU32);
    return put_zero;
  }
  if (!d.has("fractional") || d.operands() > 2) return nullptr;
  if (d.operands() == 2) d.operation.src0 = d.from(1, Type::kF32);
  return put_zero;
}

}  // namespace kernkit::simulator::ptx
