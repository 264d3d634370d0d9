// SPDX-License-Identifier: Apache-2.0
// TensorMap: the contents of a CUtensorMap in the simulator's own layout, which
// cuTensorMapEncodeTiled() writes and copies of tensors read.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kernkit::simulator {

struct TensorMap {
  static constexpr uint32_t kMagic = 0x4b4b544d;
  static constexpr int kMostDimensions = 5;
  static constexpr uint8_t kZeros = 0, kNans = 1;  // values of CUtensorMapFloatOOBfill
  // Value of every 16 bits of an element outside of the tensor if the fill mode is kNans. NVIDIA's
  // documentation does not specify the bits; this repeated value is a NaN in float16, bfloat16,
  // float32, tf32 and float64.
  static constexpr uint16_t kNanBits = 0x7ff7;

  uint32_t magic = kMagic;
  uint8_t type = 0;        // value of CUtensorMapDataType
  uint8_t dimensions = 0;  // number of dimensions
  uint8_t swizzle = 0;     // 0: no swizzle; 1, 2, 3: swizzle of 32, 64, 128 bytes
  uint8_t element_bytes = 0;
  // Padding of the second 64-bit word. The word must not hold data: in maps of small tensors,
  // CUTLASS clears a bit of the word if the driver's version is 13.1 or earlier.
  uint64_t unused = 0;
  uint64_t address = 0;
  uint64_t sizes[kMostDimensions] = {};  // sizes of the tensor [elements]
  // Strides of the second and further dimensions [bytes].
  uint64_t strides[kMostDimensions - 1] = {};
  uint16_t box[kMostDimensions] = {};   // sizes of the box [elements]
  uint8_t steps[kMostDimensions] = {};  // traversal strides [elements]; steps[0] has no effect
  uint8_t fill = kZeros;                // value of elements outside of the tensor: kZeros or kNans
  uint8_t reserved[8] = {};

  /// Returns the traversal stride of a dimension [elements]. The stride of dimension 0 is always 1,
  /// since tensor maps without interleaving ignore the stored stride (cuda.h,
  /// cuTensorMapEncodeTiled).
  uint32_t step(int dimension) const { return dimension == 0 ? 1 : steps[dimension]; }
  /// Returns the number of elements that a copy transfers in a dimension.
  uint32_t elements(int dimension) const {
    return (uint32_t{box[dimension]} + step(dimension) - 1) / step(dimension);
  }
  /// Returns whether elements are floating-point numbers. The fill mode kNans requires
  /// floating-point elements.
  bool has_floats() const { return is_float(type); }
  /// Returns whether a value of CUtensorMapDataType is a floating-point type: FLOAT16 to
  /// TFLOAT32_FTZ.
  static constexpr bool is_float(uint32_t type) { return type >= 6 && type <= 12; }
  /// Returns whether a load rounds elements to tf32: TFLOAT32 and TFLOAT32_FTZ.
  bool rounds_to_tf32() const { return type == 11 || type == 12; }
  /// Returns whether the element size, and the sizes, box and traversal strides of all dimensions
  /// are set, as a copy requires.
  bool is_complete() const {
    bool complete = element_bytes != 0;
    for (int d = 0; d < dimensions; ++d) {
      complete = complete && sizes[d] != 0 && box[d] != 0 && steps[d] != 0;
    }
    return complete;
  }
  /// Returns the size of a copied box in shared memory [bytes].
  uint32_t box_bytes() const {
    uint32_t bytes = element_bytes;
    for (int d = 0; d < dimensions; ++d) bytes *= elements(d);
    return bytes;
  }
};
static_assert(sizeof(TensorMap) <= 128, "a CUtensorMap has 128 bytes");
static_assert(std::has_unique_object_representations_v<TensorMap>,
              "equal maps have equal bytes: the structure has no padding");

/// Returns the address in shared memory of the byte that has the address `at` without swizzling.
/// Swizzling combines the number of a 16-byte unit within a row with the row's number by xor (PTX
/// ISA, "Swizzling Modes").
inline uint32_t swizzled(uint32_t at, uint32_t swizzle) {
  return at ^ ((at >> 7 & ((1u << swizzle) - 1)) << 4);
}

}  // namespace kernkit::simulator
