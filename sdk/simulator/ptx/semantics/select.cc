// SPDX-License-Identifier: Apache-2.0
// PTX ISA: selp.
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/simd/move.h"

namespace kernkit::simulator::ptx {

void select_word(Warp& warp, const Operation& operation) {
  move_steps::select<uint32_t>(warp, operation);
}

Run selp(Decoder& d) {
  const Type type = d.type();
  d.need_operands(4);
  d.operation.dst = d.to(0, type);
  d.operation.src0 = d.from(1, type);
  d.operation.src1 = d.from(2, type);
  d.operation.src2 = d.predicate_from(3);
  switch (size_of(type)) {
    case 2: return move_steps::select<uint16_t>;
    case 4: return move_steps::select<uint32_t>;
    case 8: return move_steps::select<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace kernkit::simulator::ptx
