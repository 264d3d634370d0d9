// SPDX-License-Identifier: Apache-2.0
// Whether two tensors share memory.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

namespace detail {

/// True when device, rank, dtype and sizes agree. The first three are 16 bytes that stand side by
/// side in a DLTensor.
KERNKIT_ACCESSOR inline bool is_like(const DLTensor* a, const DLTensor* b) {
  static_assert(offsetof(DLTensor, dtype) + sizeof(DLDataType) ==
                offsetof(DLTensor, device) + 2 * sizeof(uint64_t));
  uint64_t ours[2], theirs[2];
  memcpy(ours, &a->device, sizeof(ours));
  memcpy(theirs, &b->device, sizeof(theirs));
  if (ours[0] != theirs[0] || ours[1] != theirs[1]) return false;
  if (KERNKIT_USUALLY(a->ndim == 1)) return a->shape[0] == b->shape[0];
  return TensorView(a).sizes() == TensorView(b).sizes();
}

/// For contiguous tensors that are alike: true when they are the same elements or share none; false
/// when they overlap otherwise, and for a size that is negative.
KERNKIT_ACCESSOR inline bool same_or_apart(const DLTensor* a, const DLTensor* b) {
  const int64_t numel = KERNKIT_USUALLY(a->ndim == 1) ? a->shape[0] : dense_numel(a);
  const uint64_t bytes = (static_cast<uint64_t>(numel) * dtype_bits(a->dtype) + 7) / 8;
  const uint64_t distance = (reinterpret_cast<uintptr_t>(a->data) + a->byte_offset) -
                            (reinterpret_cast<uintptr_t>(b->data) + b->byte_offset);
  // Modulo 2^64, -bytes to bytes, both excluded, is too near.
  return KERNKIT_USUALLY(distance + bytes - 1 >= 2 * bytes - 1) || distance == 0;
}

/// Offsets of the lowest and the highest element from the first, in elements. The tensor must not
/// be empty. False when they do not fit int64.
[[gnu::cold]] bool offset_range(TensorView x, int64_t* low, int64_t* high);

/// overlaps() of tensors on one device.
bool extents_meet(const DLTensor* a, const char* a_name, const DLTensor* b, const char* b_name);
bool overlaps_partly(const DLTensor* a, const char* a_name, const DLTensor* b, const char* b_name);
bool same_elements(const DLTensor* a, const DLTensor* b);

}  // namespace detail

/// True when the tensors may share a byte: both have elements, are on one device, and the ranges
/// from lowest to highest address meet. Exact for dense tensors; for strided ones that interleave
/// without sharing (even and odd columns, say) it errs on the side of true.
inline bool overlaps(const TensorView& a, const TensorView& b) {
  if (a.device() != b.device()) return false;
  return detail::extents_meet(a.get(), a.name(), b.get(), b.name());
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
