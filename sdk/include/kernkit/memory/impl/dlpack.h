// SPDX-License-Identifier: Apache-2.0
// Checks of a DLPack tensor.
#pragma once

#include "kernkit/memory/dlpack.h"

namespace kernkit::detail {

KERNKIT_COLD void check_version(const DLManagedTensorVersioned& tensor) {
  KERNKIT_CHECK(tensor.version.major == DLPACK_MAJOR_VERSION, ValueError)
      << "DLPack tensor: version " << tensor.version.major << "." << tensor.version.minor
      << " is not supported; this library supports " << DLPACK_MAJOR_VERSION << ".x";
  KERNKIT_CHECK((tensor.flags & kSubbytePadded) == 0, ValueError)
      << "DLPack tensor: elements are padded to whole bytes; expected packed elements";
  KERNKIT_CHECK((tensor.flags & ~(kReadOnly | kIsCopied)) == 0, ValueError)
      << "DLPack tensor: flags " << tensor.flags << " are not supported";
}

/// Returns the alignment of an element [bytes], a power of two: the size of a number in the
/// element. A complex number consists of two numbers, and an element with several lanes of one
/// number per lane.
inline uint64_t natural_alignment(DLDataType dtype) {
  const uint32_t bits =
      dtype.code == static_cast<uint8_t>(DTypeCode::kComplex) ? dtype.bits / 2 : dtype.bits;
  return bits > 8 && (bits & (bits - 1)) == 0 ? bits / 8 : 1;
}

/// Sets *low and *high to the offsets of the lowest and of the highest element from the first
/// element [elements]. The tensor must not be empty. Returns false if an offset does not fit int64.
inline bool reach(ShapeView sizes, const int64_t* strides, int64_t* low, int64_t* high) {
  *low = *high = 0;
  int64_t dense = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    int64_t distance = 0;
    const int64_t stride = strides != nullptr ? strides[i] : dense;
    if (__builtin_mul_overflow(sizes[i] - 1, stride, &distance)) return false;
    int64_t* side = distance < 0 ? low : high;
    if (__builtin_add_overflow(*side, distance, side)) return false;
    if (strides == nullptr && __builtin_mul_overflow(dense, sizes[i], &dense)) return false;
  }
  return true;
}

/// True if the address of every byte fits the address space or, on a device whose data is a handle,
/// if the offset of every byte fits 64 bits.
inline bool is_addressable(const DLTensor& x, ShapeView sizes, bool dense, int64_t numel) {
  int64_t low = 0;
  int64_t high = numel;
  if (!dense && (!reach(sizes, x.strides, &low, &high) || __builtin_add_overflow(high, 1, &high))) {
    return false;
  }
  const auto bits = static_cast<int64_t>(dtype_bits(x.dtype));
  if (__builtin_mul_overflow(low, bits, &low) || __builtin_mul_overflow(high, bits, &high) ||
      __builtin_add_overflow(high, 7, &high)) {
    return false;
  }
  uint64_t first = is_address(x.device) ? reinterpret_cast<uintptr_t>(x.data) : 0;
  uint64_t end = 0;
  // Elements of less than a byte have the address of the byte that contains them.
  const uint64_t below = (uint64_t{0} - static_cast<uint64_t>(low) + 7) / 8;
  return !__builtin_add_overflow(first, x.byte_offset, &first) && below <= first &&
         !__builtin_add_overflow(first, static_cast<uint64_t>(high) / 8, &end);
}

KERNKIT_COLD void check_tensor(const DLTensor& x) {
  KERNKIT_CHECK(x.dtype.bits != 0 && x.dtype.lanes != 0, TypeError)
      << "DLPack tensor: dtype " << x.dtype << " has no bits";
  if (!has_sizes(&x)) throw_no_sizes(&x, "DLPack tensor");
  const ShapeView sizes(x.shape, static_cast<size_t>(x.ndim));
  int64_t numel = dense_numel(&x);
  const bool dense = numel >= 0;
  KERNKIT_CHECK(dense || checked_product(sizes, &numel), ValueError)
      << "DLPack tensor: shape " << sizes << " has a negative size or more than 2^63 - 1 elements";
  if (numel == 0) return;
  KERNKIT_CHECK(x.data != nullptr, ValueError) << "DLPack tensor: data is null, shape is " << sizes;
  KERNKIT_CHECK(is_addressable(x, sizes, dense, numel), ValueError)
      << "DLPack tensor: " << TensorView(&x) << " at " << x.data << " + " << x.byte_offset
      << " has elements beyond the address space";
  const uint64_t first =
      (is_address(x.device) ? reinterpret_cast<uintptr_t>(x.data) : 0) + x.byte_offset;
  KERNKIT_CHECK((first & (natural_alignment(x.dtype) - 1)) == 0, ValueError)
      << "DLPack tensor: data at " << TensorView(&x).data_ptr() << " is not aligned to " << x.dtype
      << " (" << natural_alignment(x.dtype) << " bytes)";
}

KERNKIT_COLD void check_wishes(const DLTensor& x, size_t alignment, bool contiguous) {
  KERNKIT_CHECK(alignment <= 1 || IsAligned(x, alignment), ValueError)
      << "DLPack tensor: data at " << TensorView(&x).data_ptr() << " is not aligned to "
      << alignment << " bytes";
  KERNKIT_CHECK(!contiguous || TensorView(&x).is_contiguous(), ValueError)
      << "DLPack tensor: " << TensorView(&x) << " is not contiguous";
}

KERNKIT_COLD void check_strides(ShapeView shape, ShapeView strides) {
  KERNKIT_CHECK(shape.size() == strides.size(), ValueError)
      << "strides " << strides << " do not match shape " << shape;
  int64_t low = 0;
  int64_t high = 0;
  int64_t numel = 0;
  checked_product(shape, &numel);
  if (numel == 0) return;
  const bool fits = reach(shape, strides.data(), &low, &high) && low == 0 && high < numel;
  KERNKIT_CHECK(fits, ValueError) << "strides " << strides << " of shape " << shape
                                  << " reach outside of its " << numel << " elements";
}

}  // namespace kernkit::detail
