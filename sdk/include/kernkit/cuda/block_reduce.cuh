// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over the threads of a warp or a block, in a fixed order: every run gives the same
// bits.
#pragma once

#include <cuda_runtime.h>

namespace kernkit::cuda {

namespace detail {

struct Plus {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
/// The larger value, or NaN if one of the values is NaN, unlike fmaxf().
struct Larger {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

// Joins the values of the warp's lanes and returns the result to each lane. All lanes join the same
// pairs of values, so their results have the same bits.
template <class Join, class T>
__device__ __forceinline__ T reduce_warp(T value, const Join& join) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = join(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  }
  return value;
}

template <class Join, class T>
__device__ __forceinline__ T reduce_block(T value, const Join& join) {
  __shared__ T of_warps[32];
  const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / 32;
  value = reduce_warp(value, join);
  if (thread % 32 == 0) of_warps[thread / 32] = value;
  __syncthreads();
  T result = of_warps[0];
  for (int warp = 1; warp < warps; ++warp) result = join(result, of_warps[warp]);
  __syncthreads();  // all threads have read `of_warps` before a later call writes it
  return result;
}

}  // namespace detail

/// Returns the sum of the values of all threads to each thread, in an order that depends only on
/// the size of the block, so each run gives the same bits. Requires that the block has one
/// dimension and consists of whole warps, at most 32. All threads of the block must make the call,
/// which waits for them at barriers and uses static shared memory for 32 values. T is float, double
/// or an integer of 4 or 8 bytes. Throws nothing.
template <class T>
__device__ __forceinline__ T block_sum(T value) {
  return detail::reduce_block(value, detail::Plus{});
}

/// Returns the largest value of all threads to each thread; NaN if any value is NaN, unlike
/// fmaxf(). Has the same requirements for the block and T as block_sum(), uses as much shared
/// memory, and also waits at barriers.
template <class T>
__device__ __forceinline__ T block_max(T value) {
  return detail::reduce_block(value, detail::Larger{});
}

}  // namespace kernkit::cuda
