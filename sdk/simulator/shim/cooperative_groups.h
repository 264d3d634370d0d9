// SPDX-License-Identifier: Apache-2.0
// Cooperative groups on the CPU: blocks, tiles of a warp and coalesced threads; see also
// cooperative_groups/reduce.h.
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

/// A tile of 1, 2, 4, 8, 16 or 32 adjacent threads of a block.
template <unsigned N, class Parent = void>
class thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0,
                "cooperative_groups on the CPU: tiles have 1, 2, 4, 8, 16 or 32 threads");

 public:
  static unsigned thread_rank() { return kernkit::simulator::lane_id() % N; }
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
  static unsigned first() { return kernkit::simulator::lane_id() / N * N; }
  static unsigned mask() { return (N == 32 ? 0xffffffffu : (1u << N % 32) - 1) << first(); }
};

/// The lanes of a warp that have arrived at one call site. A thread's rank is the number of lower
/// lanes in the group.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned lanes) : lanes_(lanes) {}
  unsigned size() const { return static_cast<unsigned>(__popc(lanes_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return rank_of(kernkit::simulator::lane_id()); }
  static unsigned meta_group_rank() { return 0; }
  static unsigned meta_group_size() { return 1; }
  void sync() const { __syncwarp(lanes_); }
  template <class T>
  T shfl(T value, unsigned source) const {
    return __shfl_sync(lanes_, value, lane_of(source % size()));
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(lanes_, value, lane_of(delta <= rank ? rank - delta : rank));
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return __shfl_sync(lanes_, value, lane_of(delta < size() - rank ? rank + delta : rank));
  }
  int any(int predicate) const { return __any_sync(lanes_, predicate); }
  int all(int predicate) const { return __all_sync(lanes_, predicate); }
  unsigned ballot(int predicate) const { return ranks_of(__ballot_sync(lanes_, predicate)); }
  template <class T>
  unsigned match_any(T value) const {
    return ranks_of(__match_any_sync(lanes_, value));
  }

 private:
  unsigned rank_of(unsigned lane) const {
    return static_cast<unsigned>(__popc(lanes_ & ((1u << lane) - 1)));
  }
  int lane_of(unsigned rank) const {
    unsigned remaining = lanes_;
    for (; rank > 0; --rank) remaining &= remaining - 1;
    return __ffs(static_cast<int>(remaining)) - 1;
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((lanes >> lane & 1) != 0) ranks |= 1u << rank_of(lane);
    }
    return ranks;
  }

  unsigned lanes_;
};
__attribute__((always_inline)) inline coalesced_group coalesced_threads(
    int line = __builtin_LINE()) {
  return coalesced_group(kernkit::simulator::active_lanes("coalesced_threads", line));
}

template <unsigned N, class Parent>
thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  return {};
}
template <class Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
