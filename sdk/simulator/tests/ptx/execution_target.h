// SPDX-License-Identifier: Apache-2.0
// Where the tests of forms run: in the simulator (simulator_target.cc) or on a GPU
// (device_target.cc). Both programs link the same objects of the tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kernkit::simulator {

/// A tensor in global memory and the box of its elements that a copy transfers.
struct TensorDescription {
  const void* address = nullptr;
  int type = 0;        // value of CUtensorMapDataType
  int dimensions = 0;  // number of dimensions; 0 for no tensor
  int element_bytes = 0;
  uint32_t swizzle = 0;      // 0: none; 1, 2, 3: 32, 64, 128 bytes
  uint32_t fill = 0;         // value of CUtensorMapFloatOOBfill
  uint64_t sizes[5] = {};    // sizes of the tensor [elements]
  uint64_t strides[4] = {};  // strides of dimensions from the second on [bytes]
  uint32_t box[5] = {};      // sizes of the box [elements]
  // Traversal strides [elements]. Copies ignore the stride of dimension 0.
  uint32_t steps[5] = {};

  /// Returns the number of elements by which a copy advances in a dimension.
  uint32_t step(int dimension) const { return dimension == 0 ? 1 : steps[dimension]; }
  /// Returns the number of elements of a dimension that a copy transfers.
  uint32_t elements(int dimension) const {
    return (box[dimension] + step(dimension) - 1) / step(dimension);
  }
  /// Returns the size of the box in shared memory [bytes].
  uint32_t box_bytes() const {
    auto bytes = static_cast<uint32_t>(element_bytes);
    for (int d = 0; d < dimensions; ++d) bytes *= elements(d);
    return bytes;
  }
};

namespace execution_target {

/// Prepares new devices of compute capability 90, or 100 for features of sm_100a only. Returns "",
/// or the reason why no test can run.
std::string begin(int capability = 90);
void end();
/// Returns the first fault of a kernel, or "none".
std::string fault();
/// Sets the seed for the order of blocks and streams. No effect on a GPU.
void set_seed(unsigned seed);
/// Returns whether the tests run in the simulator. Where PTX ISA allows several results, the
/// simulator always returns the same result.
bool is_simulator();
/// Returns, for each form of a PTX text that the simulator executes by SIMD code, such as
/// "add.s32", the name of the list that contains the form's SIMD code, such as "integers". Requires
/// KERNKIT_PTX_AVX2=0 in the environment. Returns an empty map on a GPU.
std::map<std::string, std::string> simd_forms(const std::string& text);

/// Encodes a tensor map of 128 bytes. For a description without a tensor, writes zeros.
void encode(const TensorDescription& tensor, unsigned char* map);

}  // namespace execution_target
}  // namespace kernkit::simulator
