// SPDX-License-Identifier: Apache-2.0
// D = A * B + D of a warpgroup, for the 16 rows of one of its four warps (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Instructions"). A warp computes its rows when it executes the instruction.
// Arithmetic and order of the sums are the same as for mma, see matrix.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "ptx/machine/fault.h"
#include "ptx/machine/matrix_descriptor.h"
#include "ptx/simd/matrix.h"

namespace kernkit::simulator::ptx {

inline namespace KERNKIT_PTX_TARGET {
namespace warpgroup_steps {

constexpr uint32_t kRows = 16;  // rows of D that one warp computes
constexpr uint32_t kMostColumns = 256;
constexpr uint32_t kMostDepth = 32;  // maximum number of elements of a row of A
constexpr uint32_t kUnit = MatrixDescriptor::kUnit;
constexpr uint32_t kDepthBytes = MatrixDescriptor::kDepthBytes;

typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Integers __attribute__((vector_size(32)));

// Reads the unit of 16 bytes at offset `at` of shared memory.
inline void read_unit(Warp& warp, const Operation& operation, uint32_t at, unsigned char* to) {
  const std::vector<unsigned char>& shared = warp.block->shared;
  if (at > shared.size() || shared.size() - at < kUnit) {
    fault(warp, 0, operation,
          "Invalid __shared__ read of size 16 bytes, at byte " + std::to_string(at) + " of " +
              std::to_string(shared.size()) + " bytes of shared memory, by a matrix descriptor",
          cudaErrorIllegalAddress);
  }
  std::memcpy(to, shared.data() + at, kUnit);
}

// Reads `count` rows of A or columns of B, from number `first` on, of 32 bytes each. `transposed`:
// the matrix is stored transposed.
inline void read_tile(Warp& warp, const Operation& operation, uint64_t descriptor, bool transposed,
                      uint32_t first, uint32_t count, unsigned char* to) {
  each_unit(MatrixDescriptor(descriptor), transposed, first, count,
            [&](uint32_t at, uint32_t line, uint32_t byte) {
              if (!transposed) {
                read_unit(warp, operation, at, to + (line - first) * kDepthBytes + byte);
                return;
              }
              uint16_t elements[8];
              read_unit(warp, operation, at, reinterpret_cast<unsigned char*>(elements));
              const uint32_t row = byte / 2 - first;
              for (uint32_t i = 0; i < 8; ++i) {
                std::memcpy(to + (row + i) * kDepthBytes + 2 * line, &elements[i], 2);
              }
            });
}

// Converts rows of 32 bytes with elements of type `element` to type X.
template <class X>
void convert_rows(Element element, const unsigned char* from, uint32_t rows, X* to) {
  constexpr uint32_t kBytes = 128;  // bytes that a call of read() converts
  const uint32_t depth = kDepthBytes / 4 * elements_of_register(element);
  for (uint32_t at = 0; at < rows * kDepthBytes; at += kBytes) {
    matrix_steps::read(element, from + at, to + at / kDepthBytes * depth);
  }
}

// Returns the list of the registers of D, followed by the registers of A.
inline const uint32_t* registers_of(const Warp& warp, const Operation& operation) {
  return warp.block->launch.kernel.lists[operation.more].data();
}

// Returns the descriptor of a matrix, operand `at`. Reports a fault if the descriptor differs
// between lanes.
inline uint64_t read_descriptor(Warp& warp, const Operation& operation, uint32_t at,
                                const char* matrix) {
  const auto* all = warp.lanes<uint64_t>(at);
  uint64_t differences = 0;
  for (int l = 0; l < 32; ++l) differences |= all[l] ^ all[0];
  if (differences == 0) return all[0];
  int lane = 1;
  while (all[lane] == all[0]) ++lane;
  fault(warp, lane, operation,
        function_text(warp.block->launch.kernel, operation) + ": the descriptor of matrix " +
            matrix +
            " differs from the descriptor in lane 0 of the warp; expected the same "
            "descriptor in all threads of the warpgroup");
}

template <class X>
void read_matrices(Warp& warp, const Operation& operation, const WarpgroupProduct& p, X* a, X* b) {
  alignas(64) unsigned char tile[kMostColumns * kDepthBytes];
  const uint32_t depth = kDepthBytes / 4 * elements_of_register(p.a);
  if (p.a_in_registers) {
    const uint32_t* const registers = registers_of(warp, operation) + p.registers;
    matrix_steps::read_rows(warp, registers, p.a, kRows, depth, a);
  } else {
    const uint64_t descriptor = read_descriptor(warp, operation, operation.src0, "A");
    read_tile(warp, operation, descriptor, p.a_transposed, warp.number % 4 * kRows, kRows, tile);
    convert_rows(p.a, tile, kRows, a);
  }
  const uint64_t descriptor = read_descriptor(warp, operation, operation.src1, "B");
  read_tile(warp, operation, descriptor, p.b_transposed, 0, 8u * p.columns, tile);
  convert_rows(p.b, tile, 8u * p.columns, b);
}

// Adds A * B to the sums that sums_of(block, half, parity) returns for a block of 8 columns: for
// each lane, the sum in row lane / 4 + 8 * half and column 2 * (lane % 4) + parity of the block.
template <class V, class X, class Sums>
void multiply(const WarpgroupProduct& p, const X* a, const X* b, const Sums& sums_of) {
  const uint32_t depth = kDepthBytes / 4 * elements_of_register(p.a);
  V rows[2][kMostDepth][4];  // rows[half][k]: element k of the row of each lane
  for (uint32_t half = 0; half < 2; ++half) {
    for (uint32_t k = 0; k < depth; ++k) {
      for (uint32_t v = 0; v < 4; ++v) {
        const X first = a[(8 * half + 2 * v) * depth + k];
        const X second = a[(8 * half + 2 * v + 1) * depth + k];
        rows[half][k][v] = V{first, first, first, first, second, second, second, second};
      }
    }
  }
  for (uint32_t block = 0; block < p.columns; ++block) {
    for (uint32_t parity = 0; parity < 2; ++parity) {
      V columns[kMostDepth];
      const X* column = b + (8 * block + parity) * depth;
      for (uint32_t k = 0; k < depth; ++k) {
        const X c0 = column[k], c1 = column[2 * depth + k], c2 = column[4 * depth + k],
                c3 = column[6 * depth + k];
        columns[k] = V{c0, c1, c2, c3, c0, c1, c2, c3};
      }
      for (uint32_t half = 0; half < 2; ++half) {
        X* const all = sums_of(block, half, parity);
        V sums[4];
        std::memcpy(sums, all, sizeof(sums));
        for (uint32_t k = 0; k < depth; ++k) {
          for (uint32_t v = 0; v < 4; ++v) sums[v] += rows[half][k][v] * columns[k];
        }
        std::memcpy(all, sums, sizeof(sums));
      }
    }
  }
}

// Adds A * B to the sums as multiply() does, or as the tensor cores of the compute capability
// Launch::summation do.
template <class Sums>
void add_to_sums(Warp& warp, const WarpgroupProduct& p, const float* a, const float* b,
                 const Sums& sums_of) {
  const int capability = warp.block->launch.summation;
  TensorCoreSum sum;
  if (capability == 0 || !find_tensor_core_sum(capability, p.a, true, &sum))
    return multiply<Floats>(p, a, b, sums_of);
  const uint32_t depth = kDepthBytes / 4 * elements_of_register(p.a);
  for (uint32_t i = 0; i < 4u * p.columns; ++i) {
    const uint32_t block = i / 4, half = i / 2 % 2, parity = i % 2;
    float* const sums = sums_of(block, half, parity);
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t row = l / 4 + 8 * half, column = 8 * block + l % 4 * 2 + parity;
      sums[l] = add_products(sum, depth, {p.a, a + row * depth, 1}, {p.b, b + column * depth, 1},
                             sums[l], p.d, p.d);
    }
  }
}

inline bool keeps_sums(Warp& warp, const Operation& operation) {
  const uint32_t bits = warp.predicate(operation.src2);
  return ((operation.negated ? ~bits : bits) & 1) != 0;
}

inline void multiply_floats(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const auto p = WarpgroupProduct::unpack(operation.offset);
  alignas(64) float a[kRows * kMostDepth], b[kMostColumns * kMostDepth];
  read_matrices(warp, operation, p, a, b);
  const uint32_t depth = kDepthBytes / 4 * elements_of_register(p.a);
  if (p.negates) {
    for (uint32_t i = 0; i < kRows * depth; ++i) a[i] = -a[i];
  }
  const uint32_t* const registers = registers_of(warp, operation);
  const bool keeps = keeps_sums(warp, operation);
  if (p.d == Element::kF32) {
    if (!keeps) {
      for (uint32_t r = 0; r < p.registers; ++r)
        std::memset(warp.lanes<float>(registers[r]), 0, 128);
    }
    add_to_sums(warp, p, a, b, [&](uint32_t block, uint32_t half, uint32_t parity) {
      return warp.lanes<float>(registers[4 * block + 2 * half + parity]);
    });
    for (uint32_t r = 0; r < p.registers; ++r) {
      float* const d = warp.lanes<float>(registers[r]);
      each_lane([&](int l) { d[l] = canonical(d[l]); });
    }
    return;
  }
  alignas(64) float sums[kMostColumns / 8 * 4][32];
  for (uint32_t r = 0; r < p.registers; ++r) {
    const auto* halves = warp.lanes<Half>(registers[r]);
    for (int l = 0; l < 32; ++l) {
      sums[2 * r][l] = keeps ? halves[2 * l].value() : 0;
      sums[2 * r + 1][l] = keeps ? halves[2 * l + 1].value() : 0;
    }
  }
  add_to_sums(warp, p, a, b, [&](uint32_t block, uint32_t half, uint32_t parity) {
    return sums[4 * block + 2 * half + parity];
  });
  for (uint32_t r = 0; r < p.registers; ++r) {
    auto* halves = warp.lanes<Half>(registers[r]);
    for (int l = 0; l < 32; ++l) {
      halves[2 * l] = Half::from(sums[2 * r][l]);
      halves[2 * l + 1] = Half::from(sums[2 * r + 1][l]);
    }
  }
}

// Adds A * B to the sums for one-bit elements: counts the set bits of x & y for each pair of words.
inline void count_bits(const WarpgroupProduct& p, const int32_t* a, const int32_t* b,
                       int32_t (*sums)[32]) {
  constexpr uint32_t kWords = kDepthBytes / 4;
  for (uint32_t r = 0; r < p.registers; ++r) {
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t row = l / 4 + r / 2 % 2 * 8, column = r / 4 * 8 + l % 4 * 2 + r % 2;
      for (uint32_t k = 0; k < kWords; ++k) {
        sums[r][l] +=
            __builtin_popcount(static_cast<uint32_t>(a[row * kWords + k] & b[column * kWords + k]));
      }
    }
  }
}

inline void multiply_integers(Warp& warp, const Operation& operation) {
  need_full_warp(warp, operation);
  const auto p = WarpgroupProduct::unpack(operation.offset);
  alignas(64) int32_t a[kRows * kMostDepth], b[kMostColumns * kMostDepth];
  alignas(64) int32_t sums[kMostColumns / 2][32] = {};
  read_matrices(warp, operation, p, a, b);
  if (p.a == Element::kB1) {
    count_bits(p, a, b, sums);
  } else {
    multiply<Integers>(p, a, b, [&](uint32_t block, uint32_t half, uint32_t parity) {
      return sums[4 * block + 2 * half + parity];
    });
  }
  using Limits = std::numeric_limits<int32_t>;
  const uint32_t* const registers = registers_of(warp, operation);
  const bool keeps = keeps_sums(warp, operation);
  for (uint32_t r = 0; r < p.registers; ++r) {
    auto* d = warp.lanes<int32_t>(registers[r]);
    for (int l = 0; l < 32; ++l) {
      const int64_t sum = (keeps ? int64_t{d[l]} : 0) + sums[r][l];
      const int64_t clamped = std::clamp<int64_t>(sum, Limits::min(), Limits::max());
      d[l] = static_cast<int32_t>(static_cast<uint32_t>(p.saturates ? clamped : sum));
    }
  }
}

}  // namespace warpgroup_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
