// SPDX-License-Identifier: Apache-2.0
// Cooperative groups on the CPU: blocks and tiles of a warp; see cooperative_groups/reduce.h.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

/// 1, 2, 4, 8, 16 or 32 neighbouring threads of a block.
template <unsigned N, class Parent = void>
class thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0,
                "cooperative_groups on the CPU: tiles have 1, 2, 4, 8, 16 or 32 threads");

 public:
  static unsigned thread_rank() { return kernkit::testing::lane_id() % N; }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
  static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  void sync() const { __syncwarp(mask()); }
  template <class T>
  T shfl(T value, int source) const {
    return __shfl_sync(mask(), value, source, N);
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    return __shfl_up_sync(mask(), value, delta, N);
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    return __shfl_down_sync(mask(), value, delta, N);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), N);
  }
  int any(int predicate) const { return __any_sync(mask(), predicate); }
  int all(int predicate) const { return __all_sync(mask(), predicate); }
  unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first(); }

 private:
  static unsigned first() { return kernkit::testing::lane_id() / N * N; }
  static unsigned mask() { return (N == 32 ? 0xffffffffu : (1u << N % 32) - 1) << first(); }
};

template <unsigned N, class Parent>
thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
