// SPDX-License-Identifier: Apache-2.0
// Whether two tensors share memory.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

namespace detail {

// The bytes from the lowest to behind the highest element: [begin, end). False when the extent
// does not fit the address space.
inline bool byte_extent(const TensorView& x, uint64_t* begin, uint64_t* end) {
  int64_t low = 0;
  int64_t high = 0;
  const StridesView strides = x.strides();
  for (size_t i = 0; i < strides.size(); ++i) {
    int64_t reach = 0;
    const int64_t stride = strides[i];
    if (__builtin_mul_overflow(x.sizes()[i] - 1, stride, &reach)) return false;
    int64_t* side = stride < 0 ? &low : &high;
    if (__builtin_add_overflow(*side, reach, side)) return false;
  }
  const int64_t bits = dtype_bits(x.dtype());
  int64_t low_bits = 0;
  int64_t high_bits = 0;
  if (__builtin_mul_overflow(low, bits, &low_bits)) return false;
  if (__builtin_add_overflow(high, 1, &high)) return false;
  if (__builtin_mul_overflow(high, bits, &high_bits)) return false;
  if (__builtin_add_overflow(high_bits, 7, &high_bits)) return false;
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(x.data_ptr()));
  *begin = address + static_cast<uint64_t>((low_bits - 7) / 8);
  *end = address + static_cast<uint64_t>(high_bits / 8);
  return true;
}

}  // namespace detail

/// True when the tensors may share a byte: both have elements, are on one device, and the ranges
/// from lowest to highest address meet. Exact for dense tensors; for strided ones that interleave
/// without sharing (even and odd columns, say) it errs on the side of true.
inline bool overlaps(const TensorView& a, const TensorView& b) {
  if (a.device() != b.device() || a.numel() == 0 || b.numel() == 0) return false;
  uint64_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
  if (!detail::byte_extent(a, &a_begin, &a_end)) return true;
  if (!detail::byte_extent(b, &b_begin, &b_end)) return true;
  return a_begin < b_end && b_begin < a_end;
}

/// True when both views name the same elements in the same order: address, dtype, shape, and the
/// strides of every dimension longer than 1. An output may then replace its input.
inline bool same_elements(const TensorView& a, const TensorView& b) {
  if (a.data_ptr() != b.data_ptr() || a.dtype() != b.dtype() || a.sizes() != b.sizes())
    return false;
  for (size_t i = 0; i < a.sizes().size(); ++i) {
    if (a.sizes()[i] > 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

}  // namespace kernkit
