// SPDX-License-Identifier: Apache-2.0
// MatrixDescriptor: the layout of a matrix of wgmma in shared memory.
#pragma once

#include <cstdint>

#include "tensor_map.h"

namespace kernkit::simulator::ptx {

/// A matrix descriptor (PTX ISA, "Matrix Descriptor"): the location and the layout of a matrix in
/// shared memory.
struct MatrixDescriptor {
  static constexpr uint32_t kUnit = 16;        // bytes that are contiguous in every layout
  static constexpr uint32_t kDepthBytes = 32;  // bytes of a row of A, or of a column of B

  uint32_t start, leading, stride;  // [bytes]
  uint32_t swizzle;                 // see TensorMap::swizzle

  explicit MatrixDescriptor(uint64_t bits)
      : start(field(bits, 0)),
        leading(field(bits, 16)),
        stride(field(bits, 32)),
        swizzle(bits >> 62 == 0 ? 0 : static_cast<uint32_t>(4 - (bits >> 62))) {}
  /// Returns the offset in shared memory of the 16-byte unit at byte `byte` of row `row`, for a
  /// matrix whose rows run along k.
  uint32_t along_k(uint32_t row, uint32_t byte) const {
    if (swizzle == 0) return start + row / 8 * stride + byte / 16 * leading + row % 8 * 16;
    return swizzled(start + row / 8 * stride + row % 8 * (16u << swizzle) + byte, swizzle);
  }
  /// Returns the offset in shared memory of the 16-byte unit at byte `byte` of row `k`, for a
  /// transposed matrix, which has one row for each k.
  uint32_t across_k(uint32_t k, uint32_t byte) const {
    if (swizzle == 0) return start + byte / 16 * stride + k / 8 * leading + k % 8 * 16;
    const uint32_t width = 16u << swizzle;
    return swizzled(start + byte / width * leading + k / 8 * stride + k % 8 * width + byte % width,
                    swizzle);
  }

 private:
  static uint32_t field(uint64_t bits, int shift) {
    return static_cast<uint32_t>(bits >> shift & 0x3fff) << 4;
  }
};

/// Calls visit(offset, row, byte) for each 16-byte unit of `count` rows from row `first` on: the
/// offset of the unit in shared memory, the row, and the first byte of the unit in the row. A
/// transposed matrix is stored with one row for each k: `row` is then k, and the unit contains the
/// elements of eight adjacent rows from row `byte` / 2 on.
template <class Visit>
void each_unit(const MatrixDescriptor& matrix, bool transposed, uint32_t first, uint32_t count,
               const Visit& visit) {
  constexpr uint32_t kUnit = MatrixDescriptor::kUnit, kDepth = MatrixDescriptor::kDepthBytes;
  if (!transposed) {
    for (uint32_t row = first; row < first + count; ++row) {
      for (uint32_t byte = 0; byte < kDepth; byte += kUnit) {
        visit(matrix.along_k(row, byte), row, byte);
      }
    }
    return;
  }
  for (uint32_t k = 0; k < kDepth / 2; ++k) {  // transposed matrices have elements of 16 bits
    for (uint32_t row = first; row < first + count; row += 8) {
      visit(matrix.across_k(k, 2 * row), k, 2 * row);
    }
  }
}

}  // namespace kernkit::simulator::ptx
