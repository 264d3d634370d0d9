// SPDX-License-Identifier: Apache-2.0
// LaunchConfig: grid, block, dynamic shared memory and attributes of a kernel launch.
#pragma once

#include <cuda_runtime_api.h>
#include <stdint.h>

#include <type_traits>

#include "kernkit/errors/message.h"

namespace kernkit::cuda {

/// Number of blocks of a grid or a cluster, or of threads of a block. 64-bit, so that a number that
/// is too large is rejected instead of truncated.
struct Extent {
  int64_t x, y, z;

  constexpr Extent(int64_t x_, int64_t y_ = 1, int64_t z_ = 1)  // NOLINT(runtime/explicit)
      : x(x_), y(y_), z(z_) {}
  constexpr Extent(dim3 extent)  // NOLINT(runtime/explicit)
      : x(extent.x), y(extent.y), z(extent.z) {}

  constexpr bool empty() const { return x == 0 || y == 0 || z == 0; }
  /// True when each number is in [1, limit].
  constexpr bool within(const int (&limit)[3]) const {
    return x - 1 < limit[0] && y - 1 < limit[1] && z - 1 < limit[2] && x > 0 && y > 0 && z > 0;
  }
  constexpr bool is_multiple_of(const Extent& part) const {
    return part.x > 0 && part.y > 0 && part.z > 0 && x % part.x == 0 && y % part.y == 0 &&
           z % part.z == 0;
  }
  dim3 native() const {
    return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
  }
};

/// The configuration of a kernel launch, as in `{blocks, threads}`.
struct LaunchConfig {
  Extent grid;
  Extent block;
  int64_t shared_memory;  // dynamic shared memory [bytes per block]

  /// `shared_memory` may have any integer type, such as that of sizeof.
  template <class Bytes = int64_t, std::enable_if_t<std::is_integral_v<Bytes>, int> = 0>
  LaunchConfig(Extent grid_, Extent block_, Bytes shared_memory_ = 0)
      : grid(grid_), block(block_), shared_memory(static_cast<int64_t>(shared_memory_)) {}

  /// Blocks that run at the same time on neighbouring SMs and share memory (sm_90 and later). The
  /// grid must be a multiple of the cluster in each dimension.
  LaunchConfig& with_cluster(Extent blocks) {
    cluster = blocks;
    return *this;
  }
  /// All blocks run at the same time, so that they can wait for each other.
  LaunchConfig& cooperatively() {
    cooperative = true;
    return *this;
  }
  /// The kernel may start before the previous kernel of the stream has ended (sm_90 and later). It
  /// must call cudaGridDependencySynchronize() before it accesses memory, otherwise there is a
  /// race.
  LaunchConfig& overlapping_previous() {
    overlaps_previous = true;
    return *this;
  }

  Extent cluster{1};
  bool cooperative = false;
  bool overlaps_previous = false;

  bool has_cluster() const { return cluster.x != 1 || cluster.y != 1 || cluster.z != 1; }
  /// Fills `out`, which has 3 elements, and returns the number of attributes of the launch.
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

/// Prints "[3, 1, 1]".
[[gnu::cold]] inline Message& operator<<(Message& out, Extent extent) {
  return out << "[" << extent.x << ", " << extent.y << ", " << extent.z << "]";
}

}  // namespace kernkit::cuda
