// SPDX-License-Identifier: Apache-2.0
// Matrices whose elements the 32 lanes of a warp hold together, see PTX ISA, "Matrix Fragments". A
// register of all lanes holds a block of 8 rows: four lanes have a row, each as many neighbours of
// it as a register has elements. Of wmma, whose fragments are the implementation's, as of mma.
#pragma once

#include <cstdint>

#include "kernkit/float.h"
#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {

/// The mode of an ldmatrix or stmatrix with .trans.
inline constexpr uint8_t kIsTransposed = 1;

enum class Element : uint8_t { kF16, kBF16, kTF32, kE4M3, kE5M2, kS8, kU8, kF32, kS32, kNone };

/// In a register.
constexpr uint32_t elements_of_register(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kBF16: return 2;
    case Element::kE4M3:
    case Element::kE5M2:
    case Element::kS8:
    case Element::kU8: return 4;
    default: return 1;
  }
}

/// D = A * B + C: A has m rows and k columns, B k and n. As an operation's offset.
struct Product {
  uint8_t m, n, k;
  Element a, b, c;  // D is of the type of C
  bool saturates;
  uint8_t sources;  // registers of A and B together

  int64_t packed() const { return kernkit::detail::bit_cast<int64_t>(*this); }
  static Product of(int64_t bits) { return kernkit::detail::bit_cast<Product>(bits); }
  /// Blocks of A and of B have their rows along m and n.
  uint32_t registers_of_a() const { return m / 8u * (k / (4 * elements_of_register(a))); }
  uint32_t registers_of_b() const { return n / 8u * (k / (4 * elements_of_register(b))); }
  /// Two of a block of 8 by 8 elements of 32 bits; the blocks of the first columns first.
  uint32_t registers_of_c() const { return m / 8u * (n / 8u) * (c == Element::kF16 ? 1 : 2); }
};

/// Whether the tensor cores of compute capability 8.x have it.
bool is_known(const Product& product);
/// The lanes of ldmatrix and stmatrix that hold the address of a row: 8 for each matrix.
inline uint32_t lanes_with_rows(const Operation& operation) {
  return Warp::kAll >> (32 - 8 * operation.count);
}

/// What wmma.load and wmma.store touch, as an operation's target. The rows of B are its columns.
struct Fragment {
  uint8_t rows, columns;
  Element element;
  bool is_of_c : 1, by_columns : 1;  // in memory a column is one piece

  uint32_t packed() const { return kernkit::detail::bit_cast<uint32_t>(*this); }
  static Fragment of(uint32_t bits) { return kernkit::detail::bit_cast<Fragment>(bits); }
  uint32_t of_register() const { return elements_of_register(element); }
  /// Neighbours in a row of a block that a lane has.
  uint32_t neighbours() const { return is_of_c ? 2 : of_register(); }
  uint32_t registers() const { return rows * columns / 32u / of_register(); }
  /// A lane touches so many elements at once, of one register, in each of so many accesses.
  uint32_t at_once() const { return by_columns ? 1 : of_register(); }
  uint32_t accesses() const { return rows * columns / 32u / at_once(); }
};
/// The addresses of one access of each lane. The operation's src0 is the distance of two rows, or
/// columns [elements].
void read_addresses(Warp& warp, const Operation& operation, uint32_t access, uint64_t* to);

/// All 32 lanes must be there.
void need_whole_warp(const Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
