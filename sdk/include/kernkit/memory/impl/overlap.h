// SPDX-License-Identifier: Apache-2.0
// The cold side of overlap: tensors with any strides, and the question whether two are one.
#pragma once

#include "kernkit/memory/overlap.h"

namespace kernkit {

namespace detail {

KERNKIT_COLD bool offset_range(TensorView x, int64_t* low, int64_t* high) {
  *low = *high = 0;
  const StridesView strides = x.strides();
  for (size_t i = 0; i < strides.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(x.sizes()[i] - 1, strides[i], &reach)) return false;
    int64_t* side = reach < 0 ? low : high;
    if (__builtin_add_overflow(*side, reach, side)) return false;
  }
  return true;
}

/// The addresses of a tensor's bytes: [begin, end).
struct Extent {
  uint64_t begin;
  uint64_t end;
};

/// From the lowest to the highest element, whatever the strides. False when they do not fit the
/// address space.
KERNKIT_COLD bool extent(TensorView x, Extent* out) {
  int64_t low = 0;
  int64_t high = 0;
  if (!offset_range(x, &low, &high) || __builtin_add_overflow(high, 1, &high)) return false;
  const int64_t bits = dtype_bits(x.dtype());
  if (__builtin_mul_overflow(low, bits, &low) || __builtin_mul_overflow(high, bits, &high)) {
    return false;
  }
  if (__builtin_sub_overflow(low, 7, &low) || __builtin_add_overflow(high, 7, &high)) return false;
  const auto address = static_cast<uint64_t>(address_of(x.get()));
  const auto below = static_cast<uint64_t>(-(low / 8));
  if (below > address) return false;
  out->begin = address - below;
  return !__builtin_add_overflow(address, static_cast<uint64_t>(high / 8), &out->end);
}

KERNKIT_COLD bool extents_meet(const DLTensor* a, const DLTensor* b) noexcept {
  Extent ours, theirs;
  if (!extent(a, &ours) || !extent(b, &theirs)) return true;
  return ours.begin < theirs.end && theirs.begin < ours.end;
}

KERNKIT_COLD bool same_elements(const DLTensor* ours, const DLTensor* theirs) noexcept {
  const TensorView a(ours), b(theirs);
  if (address_of(ours) != address_of(theirs) || a.dtype() != b.dtype()) return false;
  if (a.sizes() != b.sizes()) return false;
  for (size_t i = 0; i < a.sizes().size(); ++i) {
    if (a.sizes()[i] > 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

KERNKIT_COLD bool may_overlap_partly(const DLTensor* a, const DLTensor* b) noexcept {
  const int64_t ours = count_elements(a), theirs = count_elements(b);
  if (ours < 0 || theirs < 0) return true;
  return ours != 0 && theirs != 0 && TensorView(a).device() == TensorView(b).device() &&
         extents_meet(a, b) && !same_elements(a, b);
}

}  // namespace detail
}  // namespace kernkit
