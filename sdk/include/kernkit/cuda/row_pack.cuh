// SPDX-License-Identifier: Apache-2.0
// A pack of a row. The row may end inside the pack, and the address may be unaligned.
#pragma once

#include "kernkit/cuda/pack.cuh"

namespace kernkit::cuda::detail {

// Returns whether one instruction can move the pack that begins at the row's element `first`: the
// whole pack is inside the row, and the pack's address is aligned.
template <int kWidth, class T, class Index>
__device__ __forceinline__ bool is_whole(const T* row, Index first, Index d) {
  return first + kWidth <= d &&
         reinterpret_cast<uintptr_t>(row + first) % alignof(Pack<T, kWidth>) == 0;
}

template <int kWidth, class T, class Index>
__device__ __forceinline__ Pack<T, kWidth> read_pack(const T* row, Index first, Index d) {
  Pack<T, kWidth> result{};
  if (is_whole<kWidth>(row, first, d)) {
    result = *reinterpret_cast<const Pack<T, kWidth>*>(row + first);
  } else {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      if (first + j < d) result.values[j] = row[first + j];
    }
  }
  return result;
}

template <int kWidth, class T, class Index>
__device__ __forceinline__ void write_pack(T* row, Index first, Index d,
                                           const Pack<T, kWidth>& pack) {
  if (is_whole<kWidth>(row, first, d)) {
    *reinterpret_cast<Pack<T, kWidth>*>(row + first) = pack;
  } else {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      if (first + j < d) row[first + j] = pack.values[j];
    }
  }
}

// Keeps the two 16-bit elements of `word` in one register. The asm leaves `word` unchanged, but
// ptxas cannot detect that, and so does not split the word into two registers.
__device__ __forceinline__ void keep_whole([[maybe_unused]] uint32_t& word,
                                           [[maybe_unused]] int d) {
#if defined(__CUDACC__)
  asm volatile("prmt.b32 %0, %0, 0, %1;" : "+r"(word) : "r"(d > 0 ? 0x3210 : 0));
#endif
}

// Returns the word unchanged, but prevents the compiler from reusing values that it has already
// derived from the word.
__device__ __forceinline__ uint32_t anew(uint32_t word) {
#if defined(__CUDACC__)
  asm volatile("" : "+r"(word));
#endif
  return word;
}

}  // namespace kernkit::cuda::detail
