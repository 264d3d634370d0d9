// SPDX-License-Identifier: Apache-2.0
// Whether two tensors share memory.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

namespace detail {

/// The addresses of a tensor's bytes: [begin, end).
struct Extent {
  uint64_t begin;
  uint64_t end;
};

inline Extent dense_extent(const TensorView& x, int64_t numel) {
  const auto begin = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(x.data_ptr()));
  return {begin, begin + (static_cast<uint64_t>(numel) * dtype_bits(x.get()->dtype) + 7) / 8};
}

/// Offsets of the lowest and the highest element from the first, in elements. The tensor must not
/// be empty. False when they do not fit int64.
[[gnu::cold]] bool offset_range(TensorView x, int64_t* low, int64_t* high);

[[gnu::cold]] bool strided_overlap(const DLTensor* a, const char* a_name, const DLTensor* b,
                                   const char* b_name);
[[gnu::cold]] bool same_elements(const DLTensor* a, const DLTensor* b);

}  // namespace detail

/// True when the tensors may share a byte: both have elements, are on one device, and the ranges
/// from lowest to highest address meet. Exact for dense tensors; for strided ones that interleave
/// without sharing (even and odd columns, say) it errs on the side of true.
inline bool overlaps(const TensorView& a, const TensorView& b) {
  if (a.device() != b.device()) return false;
  const int64_t a_numel = detail::dense_numel(a.get());
  const int64_t b_numel = detail::dense_numel(b.get());
  // Strided, or so large that the product with 2^24 bits, the largest element, may overflow.
  constexpr uint64_t kMax = uint64_t{1} << 39;
  if (__builtin_expect(static_cast<uint64_t>(a_numel | b_numel) >= kMax, 0)) {
    return detail::strided_overlap(a.get(), a.name(), b.get(), b.name());
  }
  if (a_numel == 0 || b_numel == 0) return false;
  const detail::Extent ours = detail::dense_extent(a, a_numel);
  const detail::Extent theirs = detail::dense_extent(b, b_numel);
  return ours.begin < theirs.end && theirs.begin < ours.end;
}

/// True when both views name the same elements in the same order: address, dtype, shape, and the
/// strides of every dimension longer than 1. An output may then replace its input.
inline bool same_elements(const TensorView& a, const TensorView& b) {
  return detail::same_elements(a.get(), b.get());
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/overlap.h"
#endif
