// SPDX-License-Identifier: Apache-2.0
// Matrices that are distributed over the 32 lanes of a warp, see PTX ISA, "Matrix Fragments". A
// register of all lanes has a block of 8 rows. Four lanes share a row; each lane has adjacent
// elements of the row, as many as fit into a register. PTX ISA does not specify the layout of wmma
// fragments; the simulator uses the layout of mma.
#pragma once

#include <cstdint>

#include "kernkit/float.h"
#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// The value of Operation::mode for ldmatrix and stmatrix with .trans.
inline constexpr uint8_t kIsTransposed = 1;

/// The element types of matrices. An element of kB1 is a word that contains 32 one-bit elements.
enum class Element : uint8_t {
  kF16,
  kBF16,
  kTF32,
  kE4M3,
  kE5M2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kF32,
  kS32,
  kF64,
  kNone
};

/// Returns the number of elements in a register. A register has 64 bits for elements of kF64, and
/// 32 bits for other elements.
constexpr uint32_t elements_of_register(Element element) {
  switch (element) {
    case Element::kS4:
    case Element::kU4: return 8;
    case Element::kF16:
    case Element::kBF16: return 2;
    case Element::kE4M3:
    case Element::kE5M2:
    case Element::kS8:
    case Element::kU8: return 4;
    default: return 1;
  }
}

constexpr uint32_t bits_of(Element element) {
  return element == Element::kF64 ? 64 : 32 / elements_of_register(element);
}

/// The logical function that replaces the multiplication of two one-bit elements.
enum class BitProduct : uint8_t { kXor, kAnd };

/// D = A * B + C: A has m rows and k columns, B has k rows and n columns. The struct is packed into
/// Operation::offset.
struct Product {
  uint8_t m, n, k;
  Element a, b, c, d;     // element types
  uint8_t saturates : 1;  // .satfinite
  uint8_t rounding : 2;   // rounding of kF64: .rn, .rz, .rm or .rp
  BitProduct bit_product : 1;

  int64_t packed() const { return kernkit::detail::bit_cast<int64_t>(*this); }
  static Product unpack(int64_t bits) { return kernkit::detail::bit_cast<Product>(bits); }
  /// Returns the number of registers of A. A register has 8 rows of A; a register of B has 8
  /// columns.
  uint32_t registers_of_a() const { return m / 8u * (k / (4 * elements_of_register(a))); }
  uint32_t registers_of_b() const { return n / 8u * (k / (4 * elements_of_register(b))); }
  uint32_t sources() const { return registers_of_a() + registers_of_b(); }
  /// Returns the number of registers of C or D with elements of type `sum`. A block of 8 by 8
  /// elements has two registers, or one register for kF16. Blocks are in column-major order.
  uint32_t registers_of(Element sum) const {
    return m / 8u * (n / 8u) * (sum == Element::kF16 ? 1 : 2);
  }
  uint32_t registers_of_c() const { return registers_of(c); }
  uint32_t registers_of_d() const { return registers_of(d); }
};

/// The form of a wgmma.mma_async, packed into Operation::offset. Operation::more lists the
/// registers of D and then the registers of A, if A is in registers. src0 and src1 are the
/// registers of the descriptors of A and B, and the predicate src2 is scale-d.
struct WarpgroupProduct {
  uint8_t columns;    // columns of B, in units of 8
  uint8_t registers;  // registers of D
  Element a, b, d;
  uint8_t a_in_registers : 1;
  uint8_t a_transposed : 1, b_transposed : 1;  // whether the stored matrix has a row for each k
  uint8_t negates : 1;                         // whether the product is negated
  uint8_t saturates : 1;
  uint8_t unused[2];

  int64_t packed() const { return kernkit::detail::bit_cast<int64_t>(*this); }
  static WarpgroupProduct unpack(int64_t bits) {
    return kernkit::detail::bit_cast<WarpgroupProduct>(bits);
  }
};

/// Returns whether tensor cores of some compute capability support the product's combination of
/// element types.
bool is_known(const Product& product);
/// Returns the mask of the lanes that provide the address of a row to ldmatrix or stmatrix: 8 lanes
/// for each matrix.
inline uint32_t lanes_with_rows(const Operation& operation) {
  return Warp::kAll >> (32 - 8 * operation.count);
}

/// The matrix of wmma.load or wmma.store, packed into Operation::target. The fragment of B is
/// transposed: `rows` is the number of columns of B, and `columns` the number of rows.
struct Fragment {
  uint8_t rows, columns;
  Element element;
  bool is_of_c : 1, by_columns : 1;  // by_columns: whether columns are contiguous in memory

  uint32_t packed() const { return kernkit::detail::bit_cast<uint32_t>(*this); }
  static Fragment unpack(uint32_t bits) { return kernkit::detail::bit_cast<Fragment>(bits); }
  uint32_t of_register() const { return elements_of_register(element); }
  uint32_t bits() const { return bits_of(element); }
  uint32_t register_bytes() const { return element == Element::kF64 ? 8 : 4; }
  /// Returns the number of adjacent elements in a row of a block that belong to one lane.
  uint32_t neighbours() const { return is_of_c ? 2 : of_register(); }
  uint32_t registers() const { return rows * columns / 32u / of_register(); }
  /// Returns the number of elements that a lane accesses at once. accesses() returns the number of
  /// accesses of a lane.
  uint32_t at_once() const { return by_columns ? 1 : of_register(); }
  uint32_t accesses() const { return rows * columns / 32u / at_once(); }
};
/// Writes to `to` the address that each lane accesses in access number `access` of the operation.
/// The operation's src0 is the distance between adjacent rows or columns [elements].
void read_addresses(Warp& warp, const Operation& operation, uint32_t access, uint64_t* to);

/// Reports a fault unless all 32 lanes of the warp are active.
void need_full_warp(const Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
