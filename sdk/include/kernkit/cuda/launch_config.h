// SPDX-License-Identifier: Apache-2.0
// LaunchConfig: grid, block, dynamic shared memory and attributes of a kernel launch.
#pragma once

#include <cuda_runtime_api.h>
#include <stdint.h>

#include <type_traits>

#include "kernkit/errors/message.h"

namespace kernkit::cuda {

/// Number of blocks of a grid or a cluster, or of threads of a block, in three dimensions. The
/// numbers have 64 bits, so that a number that is too large is rejected instead of truncated. No
/// function throws.
struct Extent {
  int64_t x,  ///< number in x
      y,      ///< number in y
      z;      ///< number in z

  /// Takes the numbers of up to three dimensions, such as `{blocks}` or `{32, 8}`; the numbers are
  /// not checked.
  constexpr Extent(int64_t x_, int64_t y_ = 1, int64_t z_ = 1)  // NOLINT(runtime/explicit)
      : x(x_), y(y_), z(z_) {}
  /// Converts CUDA's dim3, with the numbers in x, y and z unchanged.
  constexpr Extent(dim3 extent)  // NOLINT(runtime/explicit)
      : x(extent.x), y(extent.y), z(extent.z) {}

  /// Returns whether x, y or z is 0. A Launch of an empty grid launches nothing.
  constexpr bool empty() const { return x == 0 || y == 0 || z == 0; }
  /// Returns whether each number is in [1, limit] for the limits of x, y and z, such as
  /// DeviceProperties::max_grid.
  constexpr bool within(const int (&limit)[3]) const {
    return x - 1 < limit[0] && y - 1 < limit[1] && z - 1 < limit[2] && x > 0 && y > 0 && z > 0;
  }
  /// Returns whether x, y and z are multiples of part.x, part.y and part.z; false if part.x, part.y
  /// or part.z is not positive.
  constexpr bool is_multiple_of(const Extent& part) const {
    return part.x > 0 && part.y > 0 && part.z > 0 && x % part.x == 0 && y % part.y == 0 &&
           z % part.z == 0;
  }
  /// Returns CUDA's dim3. Truncates numbers to 32 bits: check within() first.
  dim3 native() const {
    return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
  }
};

/// The configuration of a kernel launch, as in `{blocks, threads}`. Launch checks the limits of the
/// device; the functions of this structure check nothing and throw nothing.
struct LaunchConfig {
  Extent grid;            ///< number of blocks
  Extent block;           ///< number of threads of a block
  int64_t shared_memory;  ///< dynamic shared memory [bytes per block]

  /// Takes the grid, the block and the dynamic shared memory [bytes per block], unchecked.
  /// `shared_memory_` may have any integer type, such as size_t.
  template <class Bytes = int64_t, std::enable_if_t<std::is_integral_v<Bytes>, int> = 0>
  LaunchConfig(Extent grid_, Extent block_, Bytes shared_memory_ = 0)
      : grid(grid_), block(block_), shared_memory(static_cast<int64_t>(shared_memory_)) {}

  /// Sets the number of blocks of a cluster and returns *this. The blocks of a cluster run at the
  /// same time on neighbouring SMs and can access each other's shared memory (sm_90 and later). The
  /// launch throws ValueError unless the grid is a multiple of the cluster in each dimension. Sets
  /// cudaLaunchAttributeClusterDimension.
  LaunchConfig& with_cluster(Extent blocks) {
    cluster = blocks;
    return *this;
  }
  /// Requires that all blocks of the grid run at the same time, so that they can wait for each
  /// other, and returns *this. The launch throws RuntimeError if the blocks do not fit on the
  /// device together. Sets cudaLaunchAttributeCooperative.
  LaunchConfig& cooperatively() {
    cooperative = true;
    return *this;
  }
  /// Lets the kernel start before the previous kernel of the stream has ended (programmatic
  /// dependent launch, sm_90 and later), and returns *this. The kernel must call
  /// cudaGridDependencySynchronize() before it accesses memory; otherwise the accesses race.
  LaunchConfig& overlapping_previous() {
    overlaps_previous = true;
    return *this;
  }

  Extent cluster{1};               ///< blocks of a cluster; 1 without clusters
  bool cooperative = false;        ///< whether all blocks run at the same time
  bool overlaps_previous = false;  ///< whether the kernel may start before the previous kernel ends

  /// Returns whether the cluster has more than one block.
  bool has_cluster() const { return cluster.x != 1 || cluster.y != 1 || cluster.z != 1; }
  /// Fills `out`, which has 3 elements, with the attributes of the launch for cudaLaunchKernelEx(),
  /// and returns their number, 0 to 3. Truncates the cluster to 32 bits.
  unsigned attributes(cudaLaunchAttribute* out) const {
    unsigned count = 0;
    if (has_cluster()) {
      const dim3 blocks = cluster.native();
      out[count].id = cudaLaunchAttributeClusterDimension;
      out[count].val.clusterDim.x = blocks.x;
      out[count].val.clusterDim.y = blocks.y;
      out[count++].val.clusterDim.z = blocks.z;
    }
    if (cooperative) {
      out[count].id = cudaLaunchAttributeCooperative;
      out[count++].val.cooperative = 1;
    }
    if (overlaps_previous) {
      out[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      out[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    return count;
  }
};

/// Appends "[3, 1, 1]", the numbers in x, y and z, and returns `out`. Throws nothing.
[[gnu::cold]] inline Message& operator<<(Message& out, Extent extent) {
  return out << "[" << extent.x << ", " << extent.y << ", " << extent.z << "]";
}

}  // namespace kernkit::cuda
