// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions": wgmma.
#include "ptx/simd/warpgroup.h"

#include <utility>
#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/fragments.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kRegistersOfA = 4;

// Returns n / 8 if the instruction has the shape m64 x n x `depth`, such as m64n128k16; 0 for other
// shapes.
uint8_t columns_of_shape(Decoder& d, uint32_t depth) {
  for (uint32_t n = 8; n <= warpgroup_steps::kMostColumns; n += 8) {
    if (d.has("m64n" + std::to_string(n) + "k" + std::to_string(depth)))
      return static_cast<uint8_t>(n / 8);
  }
  return 0;
}

bool is_supported(const WarpgroupProduct& p) {
  const bool is_float = p.d == Element::kF32 || p.d == Element::kF16;
  switch (p.a) {
    case Element::kF16: return p.b == p.a && is_float;
    case Element::kBF16:
    case Element::kTF32: return p.b == p.a && p.d == Element::kF32;
    case Element::kE4M3:
    case Element::kE5M2: return (p.b == Element::kE4M3 || p.b == Element::kE5M2) && is_float;
    case Element::kS8:
    case Element::kU8: return (p.b == Element::kS8 || p.b == Element::kU8) && p.d == Element::kS32;
    case Element::kB1: return p.b == p.a && p.d == Element::kS32;
    default: return false;
  }
}

// Returns the size of an element in memory [bits].
uint32_t stored_bits(Element element) { return element == Element::kB1 ? 1 : bits_of(element); }

// Returns an immediate operand, which must be one of two values.
int64_t immediate(Decoder& d, size_t i, int64_t first, int64_t second) {
  const Operand& operand = d.operand(i);
  const auto value = static_cast<int64_t>(operand.bits);
  if (operand.kind != Operand::kInteger || (value != first && value != second)) {
    d.reject("operand " + std::to_string(i + 1) + ": expected " + std::to_string(first) + " or " +
             std::to_string(second));
  }
  return value;
}

// Executes wgmma.fence and wgmma.wait_group. wgmma.mma_async computes its product immediately, so a
// fence has no effect. A wait ends when the other warps of the warpgroup have committed their
// products as well, see Warp::sync_warp().
void need_warp(Warp& warp, const Operation& operation) { need_full_warp(warp, operation); }

void commit(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  warp.block->commit_products(warp);
}

// Decodes wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 d, a, b, scale-d, scale-a, scale-b{,
// transposed a}{, transposed b}; a is a descriptor or a vector of registers.
Run decode_product(Decoder& d) {
  begin_matrix(d);
  WarpgroupProduct p{};
  p.saturates = d.has("satfinite");
  d.has("and");
  d.has("popc");
  // The shape must be read before the types, which are the next modifiers.
  static constexpr uint32_t kDepths[] = {8, 16, 32, 256};
  uint32_t depth = 0;
  for (const uint32_t k : kDepths) {
    if (p.columns == 0 && (p.columns = columns_of_shape(d, k)) != 0) depth = k;
  }
  if (p.columns == 0) return nullptr;
  p.d = next_element(d);
  p.a = next_element(d);
  p.b = next_element(d);
  if (!is_supported(p) || depth * stored_bits(p.a) != 8 * warpgroup_steps::kDepthBytes)
    return nullptr;
  p.registers = static_cast<uint8_t>(p.columns * (p.d == Element::kF16 ? 2 : 4));
  p.a_in_registers = d.operand(1).kind == Operand::kVector;
  const bool is_integer = p.d == Element::kS32;
  const bool can_transpose = p.a == Element::kF16 || p.a == Element::kBF16;
  d.need_operands(is_integer ? 4 : can_transpose ? (p.a_in_registers ? 7 : 8) : 6);
  std::vector<uint32_t> registers = registers_of(d, 0, p.registers, true, p.d);
  if (p.a_in_registers) {
    const std::vector<uint32_t> a = registers_of(d, 1, kRegistersOfA, false, p.a);
    registers.insert(registers.end(), a.begin(), a.end());
  } else {
    d.operation.src0 = d.from(1, Type::kB64);
  }
  d.operation.src1 = d.from(2, Type::kB64);
  d.operation.src2 = d.predicate_from(3);
  if (!is_integer) p.negates = immediate(d, 4, 1, -1) != immediate(d, 5, 1, -1);
  if (can_transpose) {
    if (!p.a_in_registers) p.a_transposed = immediate(d, 6, 0, 1) != 0;
    p.b_transposed = immediate(d, d.operands() - 1, 0, 1) != 0;
  }
  d.take_list(std::move(registers));
  d.operation.offset = p.packed();
  return is_integer ? warpgroup_steps::multiply_integers : warpgroup_steps::multiply_floats;
}

}  // namespace

Run wgmma(Decoder& d) {
  if (d.has("mma_async")) return decode_product(d);
  begin_matrix(d);
  if (d.has("fence")) {
    d.need_operands(0);
    return need_warp;
  }
  if (d.has("commit_group")) {
    d.need_operands(0);
    return commit;
  }
  if (!d.has("wait_group")) return nullptr;
  d.need_operands(1);
  if (d.operand(0).kind != Operand::kInteger) return nullptr;
  d.operation.offset = static_cast<int64_t>(d.operand(0).bits);
  d.operation.mode = kWaitsForProducts;
  return need_warp;
}

}  // namespace kernkit::simulator::ptx
