// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": ldmatrix, stmatrix, movmatrix and
// mma.
#include "ptx/simd/fragment_layout.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/machine/fault.h"
#include "ptx/semantics/fragments.h"
#include "ptx/simd/matrix.h"

namespace kernkit::simulator::ptx {

void need_full_warp(const Warp& warp, const Operation& operation) {
  if (warp.mask == Warp::kAll) return;
  char text[96];
  std::snprintf(text, sizeof(text), " needs all 32 lanes of the warp, found the mask 0x%08x",
                warp.mask);
  fault(warp, __builtin_ctz(warp.mask), operation,
        function_text(warp.block->launch.kernel, operation) + text);
}

namespace {

constexpr uint32_t kRow = 16;  // bytes of a row of 8 elements of 16 bits

// Finds the memory of the rows of all matrices. Each lane provides the address of one row: lanes 0
// to 7 for the first matrix, lanes 8 to 15 for the second matrix, and so on.
void find_rows(Warp& warp, const Operation& operation, Touch touch, LanePointers* rows) {
  need_full_warp(warp, operation);
  warp.mask = lanes_with_rows(operation);
  find_pointers(warp, operation, kRow, touch, rows);
  warp.mask = Warp::kAll;
}

// Returns the address of element i, 0 or 1, of the two elements of matrix number `matrix` that
// belong to a lane.
template <bool kTransposed>
unsigned char* element_of(const LanePointers& rows, uint32_t matrix, int lane, int i) {
  const auto l = static_cast<size_t>(lane);
  const size_t row = l / 4, column = l % 4 * 2 + static_cast<size_t>(i);
  const auto* of_matrix = &rows.at[size_t{8} * matrix];
  return kTransposed ? of_matrix[column] + 2 * row : of_matrix[row] + 2 * column;
}

template <bool kTransposed>
void load_matrices(Warp& warp, const Operation& operation) {
  LanePointers rows;
  find_rows(warp, operation, Touch::kLoads, &rows);
  for (uint32_t matrix = 0; matrix < operation.count; ++matrix) {
    if (operation.list[matrix] == kNone) continue;
    auto* to = warp.lanes<uint16_t>(operation.list[matrix]);
    for (int i = 0; i < 64; ++i) {
      std::memcpy(&to[i], element_of<kTransposed>(rows, matrix, i / 2, i % 2), 2);
    }
  }
}
template <bool kTransposed>
void store_matrices(Warp& warp, const Operation& operation) {
  LanePointers rows;
  find_rows(warp, operation, Touch::kStores, &rows);
  for (uint32_t matrix = 0; matrix < operation.count; ++matrix) {
    const auto* from = warp.lanes<uint16_t>(operation.list[matrix]);
    for (int i = 0; i < 64; ++i) {
      std::memcpy(element_of<kTransposed>(rows, matrix, i / 2, i % 2), &from[i], 2);
    }
  }
}

// Executes movmatrix. Lane l holds the two elements of row l / 4 in columns 2 * (l % 4) and 2 * (l
// % 4) + 1.
void transpose(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const auto* a = warp.lanes<uint16_t>(operation.src0);
  auto* d = warp.lanes<uint16_t>(operation.dst);
  uint16_t transposed[64];
  for (uint32_t i = 0; i < 64; ++i) transposed[i] = a[i % 8 * 8 + i / 8];
  std::memcpy(d, transposed, sizeof(transposed));
}

// Decodes ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 registers, [rows], and stmatrix.
// Returns whether the form has .trans.
bool take_matrices(Decoder& d, size_t registers, size_t address) {
  begin_matrix(d);
  const std::string_view count = d.one_of({"x1", "x2", "x4"});
  if (count.empty() || !d.has("m8n8") || !d.has("b16"))
    d.reject("unsupported form of ldmatrix or stmatrix");
  const bool transposed = d.has("trans");
  d.operation.mode = transposed ? kIsTransposed : 0;
  const Space space = d.space();
  if (space != Space::kShared && space != Space::kGeneric)
    d.reject("expected an address in shared memory");
  d.need_operands(2);
  d.operation.count = static_cast<uint8_t>(count[1] - '0');
  d.operation.bytes = kRow;
  const std::vector<uint32_t> all = registers_of(d, registers, d.operation.count, registers == 0);
  std::copy(all.begin(), all.end(), d.operation.list);
  d.address(address, space);
  return transposed;
}

}  // namespace

void begin_matrix(Decoder& d) {
  if (!d.has("sync") || !d.has("aligned")) d.reject("expected .sync.aligned");
  d.operation.flow = Flow::kWarpSync;
  d.operation.members = d.constant(Warp::kAll, Type::kU32);
}

std::vector<uint32_t> registers_of(Decoder& d, size_t i, uint32_t count, bool writes,
                                   Element element) {
  const Operand& operand = d.operand(i);
  const std::vector<Operand> single = {operand};
  const std::vector<Operand>& parts = operand.kind == Operand::kVector ? operand.parts : single;
  if (parts.size() != count)
    d.reject("expected " + std::to_string(count) + " registers, found " +
             std::to_string(parts.size()));
  std::vector<uint32_t> registers;
  for (const Operand& part : parts) {
    if (writes && part.kind == Operand::kNothing) {
      registers.push_back(kNone);
      continue;
    }
    const bool real = part.kind == Operand::kFloat || part.kind == Operand::kDouble;
    const bool is_wide = element == Element::kF64;
    const Type type = real      ? (is_wide ? Type::kF64 : Type::kF32)
                      : is_wide ? Type::kB64
                                : Type::kB32;
    registers.push_back(writes ? d.to(part, type) : d.from(part, type));
  }
  return registers;
}

Element next_element(Decoder& d) {
  static constexpr std::pair<const char*, Element> kNames[] = {
      {"f16", Element::kF16},   {"bf16", Element::kBF16}, {"tf32", Element::kTF32},
      {"e4m3", Element::kE4M3}, {"e5m2", Element::kE5M2}, {"s8", Element::kS8},
      {"u8", Element::kU8},     {"s4", Element::kS4},     {"u4", Element::kU4},
      {"b1", Element::kB1},     {"f32", Element::kF32},   {"s32", Element::kS32},
      {"f64", Element::kF64}};
  for (const auto& [name, element] : kNames) {
    if (!d.next_of({name}).empty()) return element;
  }
  d.reject("unsupported element type");
}

bool is_known(const Product& p) {
  const bool is_float = p.d == Element::kF32 || p.d == Element::kF16;
  if (p.c != p.d && (p.a != Element::kF16 || !is_float)) return false;
  switch (p.a) {
    case Element::kF16: return p.b == p.a && (p.c == Element::kF32 || p.c == Element::kF16);
    case Element::kF64: return p.b == p.a && p.c == p.a;
    case Element::kB1: return p.b == p.a && p.c == Element::kS32;
    case Element::kS4:
    case Element::kU4: return (p.b == Element::kS4 || p.b == Element::kU4) && p.c == Element::kS32;
    case Element::kBF16:
    case Element::kTF32: return p.b == p.a && p.c == Element::kF32;
    case Element::kE4M3:
    case Element::kE5M2:
      return (p.b == Element::kE4M3 || p.b == Element::kE5M2) &&
             (p.c == Element::kF32 || p.c == Element::kF16);
    case Element::kS8:
    case Element::kU8: return (p.b == Element::kS8 || p.b == Element::kU8) && p.c == Element::kS32;
    default: return false;
  }
}

Run ldmatrix(Decoder& d) {
  return take_matrices(d, 0, 1) ? load_matrices<true> : load_matrices<false>;
}
Run stmatrix(Decoder& d) {
  return take_matrices(d, 1, 0) ? store_matrices<true> : store_matrices<false>;
}

Run multiply_matrices(Decoder& d, const Product& p, uint32_t of_a, uint32_t of_b) {
  if (!is_known(p)) return nullptr;
  d.need_operands(4);
  const std::vector<uint32_t> a = registers_of(d, 1, of_a, false, p.a);
  const std::vector<uint32_t> b = registers_of(d, 2, of_b, false, p.b);
  const std::vector<uint32_t> c = registers_of(d, 3, p.registers_of_c(), false, p.c);
  std::vector<uint32_t> all = registers_of(d, 0, p.registers_of_d(), true, p.d);
  all.insert(all.end(), a.begin(), a.begin() + p.registers_of_a());
  all.insert(all.end(), b.begin(), b.begin() + p.registers_of_b());
  all.insert(all.end(), c.begin(), c.end());
  d.take_list(std::move(all));
  d.operation.offset = p.packed();
  if (p.c == Element::kF64) return matrix_steps::multiply_matrices_of_f64;
  return p.c == Element::kS32 ? matrix_steps::multiply_integers : matrix_steps::multiply_floats;
}

// Decodes movmatrix.sync.aligned.m8n8.trans.b16 d, a, which transposes a matrix of 8 by 8 elements.
Run movmatrix(Decoder& d) {
  begin_matrix(d);
  if (!d.has("m8n8") || !d.has("trans") || !d.has("b16")) return nullptr;
  d.need_operands(2);
  d.take(Type::kB32);
  return transpose;
}

void take_bit_product(Decoder& d, Product* p) {
  const std::string_view operator_name = d.one_of({"xor", "and"});
  if (operator_name.empty() || !d.has("popc")) d.reject("expected .xor.popc or .and.popc");
  p->bit_product = operator_name == "and" ? BitProduct::kAnd : BitProduct::kXor;
}

uint8_t rounding_of(Decoder& d) {
  const std::string_view how = d.one_of({"rz", "rm", "rp", "rn"});
  return how == "rz" ? 1 : how == "rm" ? 2 : how == "rp" ? 3 : 0;
}

// Decodes mma, such as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c and
// mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 d, a, b, c.
Run mma(Decoder& d) {
  begin_matrix(d);
  struct Shape {
    const char* name;
    uint8_t m;
    uint16_t k;
  };
  static constexpr Shape kShapes[] = {
      {"m8n8k4", 8, 4},     {"m8n8k16", 8, 16},     {"m8n8k32", 8, 32},    {"m8n8k128", 8, 128},
      {"m16n8k4", 16, 4},   {"m16n8k8", 16, 8},     {"m16n8k16", 16, 16},  {"m16n8k32", 16, 32},
      {"m16n8k64", 16, 64}, {"m16n8k128", 16, 128}, {"m16n8k256", 16, 256}};
  Product p{};
  uint32_t k = 0;
  for (const Shape& shape : kShapes) {
    if (!d.has(shape.name)) continue;
    p.m = shape.m;
    p.n = 8;
    k = shape.k;
  }
  if (p.m == 0 || !d.has("row") || !d.has("col")) return nullptr;
  p.saturates = d.has("satfinite");
  p.rounding = rounding_of(d);
  p.d = next_element(d);
  p.a = next_element(d);
  p.b = next_element(d);
  p.c = next_element(d);
  if (p.a == Element::kB1) {
    take_bit_product(d, &p);
    k /= 32;  // number of 32-bit words in a row of A
  }
  p.k = static_cast<uint8_t>(k);
  const uint32_t width = 4 * elements_of_register(p.a);
  const bool is_integer = p.c == Element::kS32, is_double = p.c == Element::kF64;
  const bool has_depth = k == width || (k == 2 * width && p.m == 16) || (is_double && k == 16);
  if (p.d != p.c || !has_depth) return nullptr;
  if ((p.saturates || p.m == 8) && !is_integer && !(is_double && !p.saturates)) return nullptr;
  if (p.saturates && p.a == Element::kB1) return nullptr;
  return multiply_matrices(d, p, p.registers_of_a(), p.registers_of_b());
}

}  // namespace kernkit::simulator::ptx
