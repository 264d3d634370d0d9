// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "WMMA": loads, stores and products of whole matrices.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/machine/access.h"
#include "ptx/semantics/fragments.h"

namespace kernkit::simulator::ptx {

void read_addresses(Warp& warp, const Operation& operation, uint32_t access, uint64_t* to) {
  read_addresses(warp, operation, to);
  const Fragment f = Fragment::unpack(operation.target);
  const uint32_t element = access * f.at_once(), block = element / f.neighbours();
  const uint32_t first_row = block % (f.rows / 8u) * 8;
  const uint32_t first_column =
      block / (f.rows / 8u) * 4 * f.neighbours() + element % f.neighbours();
  const auto* strides = warp.lanes<uint32_t>(operation.src0);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint64_t row = first_row + lane / 4, column = first_column + lane % 4 * f.neighbours();
    if (f.by_columns) std::swap(row, column);
    const uint64_t stride_bits = f.element == Element::kB1 ? 1 : f.bits();
    to[lane] += (row * strides[lane] * stride_bits + column * f.bits()) / 8;
  }
}

namespace {

// Calls visit(memory, elements) for each access of each lane: the address in memory, and the
// address of the accessed elements in the register.
template <class Visit>
void each_access(Warp& warp, const Operation& operation, Touch touch, const Visit& visit) {
  need_full_warp(warp, operation);
  const Fragment f = Fragment::unpack(operation.target);
  for (uint32_t access = 0; access < f.accesses(); ++access) {
    alignas(64) uint64_t addresses[32];
    LanePointers pointers;
    read_addresses(warp, operation, access, addresses);
    find_pointers_at(warp, operation, addresses, operation.bytes, touch, &pointers);
    const uint32_t element = access * f.at_once(), in_register = element % f.of_register();
    auto* lanes = warp.lanes<unsigned char>(operation.list[element / f.of_register()]);
    const size_t offset = size_t{in_register} * operation.bytes;
    for (size_t lane = 0; lane < 32; ++lane) {
      visit(pointers.at[lane], lanes + f.register_bytes() * lane + offset);
    }
  }
}

void load_fragment(Warp& warp, const Operation& operation) {
  each_access(warp, operation, Touch::kLoads,
              [&](const unsigned char* pointer, unsigned char* elements) {
                std::memcpy(elements, pointer, operation.bytes);
              });
  // If the matrix fills only part of the registers, as for a fragment of 16 elements, the other
  // registers repeat the matrix.
  const uint32_t count = Fragment::unpack(operation.target).registers();
  for (uint32_t i = count; i < operation.count; ++i) {
    std::memcpy(warp.lanes<uint32_t>(operation.list[i]),
                warp.lanes<uint32_t>(operation.list[i % count]), 32 * sizeof(uint32_t));
  }
}
void store_fragment(Warp& warp, const Operation& operation) {
  each_access(warp, operation, Touch::kStores,
              [&](unsigned char* pointer, const unsigned char* elements) {
                std::memcpy(pointer, elements, operation.bytes);
              });
}

// Returns the number of registers of A or B, which is always 8 for .f16.
uint32_t registers_of_factor(const Product& p, bool of_a) {
  if (p.a == Element::kF16) return 8;
  return of_a ? p.registers_of_a() : p.registers_of_b();
}

Product shape_of(Decoder& d) {
  Product p{};
  struct Shape {
    const char* name;
    uint8_t m, n, k;
  };
  static constexpr Shape kShapes[] = {{"m16n16k16", 16, 16, 16}, {"m8n32k16", 8, 32, 16},
                                      {"m32n8k16", 32, 8, 16},   {"m16n16k8", 16, 16, 8},
                                      {"m8n8k4", 8, 8, 4},       {"m8n8k32", 8, 8, 32},
                                      {"m8n8k128", 8, 8, 128}};
  for (const Shape& shape : kShapes) {
    if (!d.has(shape.name)) continue;
    p.m = shape.m;
    p.n = shape.n;
    p.k = shape.k;
  }
  return p;
}
// Returns whether wmma supports a shape of depth k for A and B with elements of the type.
bool has_depth(Element factor, uint32_t k) {
  switch (factor) {
    case Element::kF16:
    case Element::kBF16:
    case Element::kS8:
    case Element::kU8: return k == 16;
    case Element::kTF32: return k == 8;
    case Element::kF64: return k == 4;
    case Element::kS4:
    case Element::kU4: return k == 32;
    case Element::kB1: return k == 128;
    default: return false;
  }
}
bool has_shape(const Product& p) { return p.m != 0 && has_depth(p.a, p.k); }

// Returns an element type of A and B for which the shape exists. The forms for C and D do not
// specify this type.
Element factor_of(const Product& p) {
  switch (p.k) {
    case 4: return Element::kF64;
    case 8: return Element::kTF32;
    case 32: return Element::kS4;
    case 128: return Element::kB1;
    default: return Element::kF16;
  }
}
bool has_sum(const Product& p, Element sum) {
  switch (p.k) {
    case 4: return sum == Element::kF64;
    case 8: return sum == Element::kF32;
    case 16: return sum == Element::kF16 || sum == Element::kF32 || sum == Element::kS32;
    default: return sum == Element::kS32;
  }
}

// Decodes wmma.load.a.sync.aligned.row.m16n16k16{.global}.f16 registers, [first], stride, and
// wmma.store.d.
Run access(Decoder& d, bool stores) {
  const std::string_view which = stores ? d.one_of({"d"}) : d.one_of({"a", "b", "c"});
  if (which.empty()) return nullptr;
  begin_matrix(d);
  const bool by_columns = d.has("col");
  Product p = shape_of(d);
  if (!by_columns && !d.has("row")) return nullptr;
  const Space space = d.space();
  Fragment f{};
  f.element = next_element(d);
  f.is_of_c = which == "c" || which == "d";
  if (f.is_of_c && !has_sum(p, f.element)) return nullptr;
  p.a = p.b = f.is_of_c ? factor_of(p) : f.element;
  if (!has_shape(p)) return nullptr;
  const uint32_t depth = p.k;
  if (p.a == Element::kB1) p.k /= 32;  // number of 32-bit words
  if (d.operands() != 2) d.need_operands(3);
  f.rows = which == "b" ? p.n : p.m;
  f.columns = f.is_of_c ? p.n : p.k;
  f.by_columns = by_columns != (which == "b");
  if (f.by_columns && !f.is_of_c && f.bits() < 8) return nullptr;
  if (f.by_columns && f.element == Element::kB1) return nullptr;
  Operation& operation = d.operation;
  operation.count =
      static_cast<uint8_t>(f.is_of_c ? f.registers() : registers_of_factor(p, which == "a"));
  const std::vector<uint32_t> all =
      registers_of(d, stores ? 1 : 0, operation.count, !stores, f.element);
  std::copy(all.begin(), all.end(), operation.list);
  // Without the operand stride, the rows or columns are contiguous.
  const uint32_t length = f.element == Element::kB1 ? depth : f.by_columns ? f.rows : f.columns;
  operation.src0 = d.operands() == 3 ? d.from(2, Type::kU32) : d.constant(length, Type::kU32);
  d.address(stores ? 0 : 1, space);
  operation.target = f.packed();
  operation.bytes = static_cast<uint8_t>(f.bits() * f.at_once() / 8);
  return stores ? store_fragment : load_fragment;
}

}  // namespace

// Decodes wmma.load, wmma.store and wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c,
// with the types of d and c, or of d, a, b and c.
Run wmma(Decoder& d) {
  if (d.has("load")) return access(d, false);
  if (d.has("store")) return access(d, true);
  if (!d.has("mma")) return nullptr;
  begin_matrix(d);
  Product p = shape_of(d);
  if (p.k == 128) take_bit_product(d, &p);
  for (int i = 0; i < 2; ++i) {  // fragments do not depend on the layout in memory
    if (d.next_of({"row", "col"}).empty()) return nullptr;
  }
  p.rounding = rounding_of(d);
  p.d = next_element(d);
  p.a = p.b = Element::kF16;
  Element next = next_element(d);
  if (next != Element::kF32 && next != Element::kF16) {
    p.a = next;
    p.b = next_element(d);
    next = next_element(d);
  }
  p.c = next;
  p.saturates = d.has("satfinite");
  if (!has_shape(p) || p.a != p.b || (p.saturates && p.c != Element::kS32)) return nullptr;
  if (p.a == Element::kB1) p.k /= 32;  // number of 32-bit words
  return multiply_matrices(d, p, registers_of_factor(p, true), registers_of_factor(p, false));
}

}  // namespace kernkit::simulator::ptx
