// SPDX-License-Identifier: Apache-2.0
// A pack of a row, which may end inside it, or lie at any address.
#pragma once

#include "kernkit/cuda/pack.cuh"

namespace kernkit::cuda::detail {

// Whether the pack from the row's element `first` on can be moved at once.
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

}  // namespace kernkit::cuda::detail
