// SPDX-License-Identifier: Apache-2.0
// Slow path of the overlap checks: tensors with any strides, and comparison of elements.
#pragma once

#include "kernkit/memory/overlap.h"

namespace kernkit::detail {

KERNKIT_COLD bool offset_range(TensorView x, int64_t* low, int64_t* high, int64_t pitch) {
  *low = *high = 0;
  const StridesView strides = x.strides();
  for (size_t i = 0; i < strides.size(); ++i) {
    int64_t reach = 0;
    if (pitch != 0 && strides[i] % pitch == 0) continue;
    if (__builtin_mul_overflow(x.sizes()[i] - 1, strides[i], &reach)) return false;
    int64_t* side = reach < 0 ? low : high;
    if (__builtin_add_overflow(*side, reach, side)) return false;
  }
  return true;
}

/// The addresses [begin, end) of a tensor's bytes.
struct Extent {
  uint64_t begin, end;
};

/// Sets *out to the addresses from the lowest to the highest element, for any strides. Returns
/// false if the addresses do not fit the address space.
KERNKIT_COLD bool extent(TensorView x, Extent* out, int64_t pitch = 0) {
  int64_t low, high;
  if (!offset_range(x, &low, &high, pitch) || __builtin_add_overflow(high, 1, &high)) return false;
  const int64_t bits = dtype_bits(x.dtype());
  if (__builtin_mul_overflow(low, bits, &low) || __builtin_mul_overflow(high, bits, &high) ||
      __builtin_sub_overflow(low, 7, &low) || __builtin_add_overflow(high, 7, &high))
    return false;
  const auto address = static_cast<uint64_t>(address_of(x.get()));
  const auto below = static_cast<uint64_t>(-(low / 8));
  if (below > address) return false;
  out->begin = address - below;
  return !__builtin_add_overflow(address, static_cast<uint64_t>(high / 8), &out->end);
}

inline uint64_t magnitude(int64_t stride) {
  return stride < 0 ? 0 - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
}

KERNKIT_COLD bool may_overlap_itself(const DLTensor* tensor) noexcept {
  const TensorView x(tensor);
  for (size_t i = 0; i < x.sizes().size(); ++i) {
    uint64_t reach = 0, stride = magnitude(x.strides()[i]);
    for (size_t k = 0; k < x.sizes().size(); ++k) {
      const uint64_t other = magnitude(x.strides()[k]);
      if (k != i && other <= stride) reach += static_cast<uint64_t>(x.sizes()[k] - 1) * other;
    }
    if (x.sizes()[i] > 1 && stride <= reach) return true;
  }
  return false;
}

KERNKIT_COLD bool extents_overlap(const DLTensor* a, const DLTensor* b) noexcept {
  Extent a_extent, b_extent;
  if (!extent(a, &a_extent) || !extent(b, &b_extent)) return true;
  if (a_extent.begin >= b_extent.end || b_extent.begin >= a_extent.end) return false;
  const auto bytes = static_cast<uint64_t>(dtype_bits(a->dtype) / 8);
  if (a->dtype != b->dtype) return true;
  for (const DLTensor* t : {a, b}) {
    for (const int64_t stride : TensorView(t).strides()) {
      const uint64_t pitch = static_cast<uint64_t>(stride) * bytes;
      if (stride <= 0 || pitch == 0) continue;
      // The address ranges of one row of `a` and one row of `b`.
      (void)extent(a, &a_extent, stride), (void)extent(b, &b_extent, stride);
      const uint64_t distance = (b_extent.begin % pitch + pitch - a_extent.begin % pitch) % pitch;
      if (distance >= a_extent.end - a_extent.begin &&
          distance + (b_extent.end - b_extent.begin) <= pitch)
        return false;
    }
  }
  return true;
}

KERNKIT_COLD bool same_elements(const DLTensor* first, const DLTensor* second) noexcept {
  const TensorView a(first), b(second);
  if (address_of(first) != address_of(second) || a.dtype() != b.dtype()) return false;
  if (a.sizes() != b.sizes()) return false;
  for (size_t i = 0; i < a.sizes().size(); ++i)
    if (a.sizes()[i] > 1 && a.strides()[i] != b.strides()[i]) return false;
  return true;
}

KERNKIT_COLD bool may_overlap(const DLTensor* a, const DLTensor* b, bool but_same) noexcept {
  const int64_t a_count = count_elements(a), b_count = count_elements(b);
  if (a_count < 0 || b_count < 0 || (a_count != 0 && may_overlap_itself(a))) return true;
  return a_count != 0 && b_count != 0 && TensorView(a).device() == TensorView(b).device() &&
         extents_overlap(a, b) && !(but_same && same_elements(a, b));
}

}  // namespace kernkit::detail
