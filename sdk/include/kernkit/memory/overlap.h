// SPDX-License-Identifier: Apache-2.0
// The checks whether two tensors share memory, for no_overlap() and no_partial_overlap() of
// KERNKIT_EXPECT and for returned tensors.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

namespace detail {

/// True if the tensors have equal device, rank, dtype and sizes. Device, ndim and dtype are
/// adjacent in a DLTensor (16 bytes), so two 64-bit comparisons compare all three.
KERNKIT_ACCESSOR inline bool is_like(const DLTensor* a, const DLTensor* b) {
  static_assert(offsetof(DLTensor, dtype) + sizeof(DLDataType) ==
                offsetof(DLTensor, device) + 2 * sizeof(uint64_t));
  for (size_t i = 0; i < 2; ++i) {
    uint64_t a_bits, b_bits;
    memcpy(&a_bits, reinterpret_cast<const char*>(&a->device) + i * sizeof(a_bits), sizeof(a_bits));
    memcpy(&b_bits, reinterpret_cast<const char*>(&b->device) + i * sizeof(a_bits), sizeof(b_bits));
    if (a_bits != b_bits) return false;
  }
  if (KERNKIT_USUALLY(a->ndim == 1)) return a->shape[0] == b->shape[0];
  return TensorView(a).sizes() == TensorView(b).sizes();
}

/// True if the tensors have the same elements in the same order, or share no elements. False if
/// they overlap in another way, if `b` is not contiguous, or if both are empty at different
/// addresses; the caller then calls may_overlap(). Requires is_like(a, b) and a contiguous `a`.
/// (The result is unspecified for a negative size, which numel() rejects.)
KERNKIT_ACCESSOR inline bool same_or_apart(const DLTensor* a, const DLTensor* b) {
  int64_t numel;
  if (is_plain_vector(b, a->ndim)) {
    numel = b->shape[0];
  } else if ((numel = dense_numel(b)) < 0) {
    return false;
  }
  const uint64_t size = static_cast<uint64_t>(numel) * (uint64_t{a->dtype.bits} * a->dtype.lanes);
  const uint64_t distance = address_of(a) - address_of(b);
  // Computed in bits, modulo 2^64: the tensors overlap if the distance is strictly between -size
  // and size.
  return KERNKIT_USUALLY(8 * distance + size - 1 >= 2 * size - 1) || distance == 0;
}

/// Sets *low and *high to the offsets of the lowest and of the highest element from the first
/// element [elements]. Ignores dimensions whose stride is a multiple of `pitch`, unless `pitch` is
/// 0. The tensor must not be empty. Returns false if an offset does not fit int64.
[[gnu::cold]] bool offset_range(TensorView x, int64_t* low, int64_t* high, int64_t pitch = 0);

/// Returns overlaps(a, b). Requires that both tensors have elements and are on the same device.
[[gnu::pure]] bool extents_overlap(const DLTensor* a, const DLTensor* b) noexcept;
[[gnu::pure]] bool same_elements(const DLTensor* a, const DLTensor* b) noexcept;
/// True if the stride of a dimension does not exceed the distance that the other dimensions with
/// shorter or equal strides cover; two indices may then refer to the same memory.
[[gnu::pure]] bool may_overlap_itself(const DLTensor* x) noexcept;
/// True if the tensors may overlap, if `a` may overlap itself, or if the elements of a tensor
/// cannot be counted. If `but_same` is true, tensors with the same elements in the same order do
/// not count as overlapping.
[[gnu::pure]] bool may_overlap(const DLTensor* a, const DLTensor* b, bool but_same) noexcept;

}  // namespace detail

/// True if the tensors may share a byte: both have elements, are on the same device, and their
/// ranges from lowest to highest address intersect. Exact for dense tensors, and for two tensors
/// whose rows have the same dtype and pitch, such as different columns of a matrix. For other
/// tensors whose elements interleave without sharing a byte, the result is true as well. Reads no
/// elements. For tensors on one device, throws ValueError if the elements of `a` cannot be counted,
/// or if `a` has elements and the elements of `b` cannot be counted (see TensorView::numel).
inline bool overlaps(const TensorView& a, const TensorView& b) {
  if (a.device() != b.device() || a.numel() == 0 || b.numel() == 0) return false;
  return detail::extents_overlap(a.get(), b.get());
}

/// True if both views have the same elements in the same order: address, dtype, shape, and the
/// strides of every dimension longer than 1. An output may then replace its input. Compares no
/// contents, and throws nothing.
inline bool same_elements(const TensorView& a, const TensorView& b) {
  return detail::same_elements(a.get(), b.get());
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/memory/impl/overlap.h"
#endif
