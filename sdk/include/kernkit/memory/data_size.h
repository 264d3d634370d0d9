// SPDX-License-Identifier: Apache-2.0
// GetDataSize() and IsAligned(): the size of a tensor's memory and its alignment.
#pragma once

#include "kernkit/tensor.h"

namespace kernkit {

namespace detail {
/// Sets *size to the size of packed elements [bytes]; returns false if the size exceeds 2^63 - 1.
/// Multiplies whole bytes and the remaining bits separately, so that only the result can overflow.
constexpr bool packed_size(int64_t numel, DLDataType dtype, int64_t* size) {
  const auto bits = static_cast<int64_t>(dtype_bits(dtype));
  return numel >= 0 && !__builtin_mul_overflow(numel / 8, bits, size) &&
         !__builtin_add_overflow(*size, (numel % 8 * bits + 7) / 8, size);
}
}  // namespace detail

/// Size of `numel` packed elements [bytes], lanes included. Elements of less than a byte are
/// packed, and the size is rounded up, so that five float4 elements take three bytes. Throws
/// ValueError if `numel` is negative or the size exceeds 2^63 - 1.
inline size_t GetDataSize(int64_t numel, DLDataType dtype) {
  int64_t size = 0;
  KERNKIT_CHECK(detail::packed_size(numel, dtype, &size), ValueError)
      << numel << " elements of " << dtype << " take more than 2^63 - 1 bytes";
  return static_cast<size_t>(size);
}

/// Size of the memory that an allocator must provide for a tensor's elements without gaps [bytes].
/// Elements of less than a byte are packed, and the size is rounded up; 0 for an empty tensor.
/// The size does not include byte_offset, nor gaps between elements due to strides. Throws
/// ValueError if a size is negative or the result exceeds 2^63 - 1. Reads no elements.
inline size_t GetDataSize(const TensorView& tensor) {
  return GetDataSize(tensor.numel(), tensor.dtype());
}
/// Size of a tensor's elements without gaps [bytes], as in GetDataSize(const TensorView&). Elements
/// of less than a byte are packed, the size is rounded up, and the size of an empty tensor is 0.
/// Throws ValueError if a size is negative or the result exceeds 2^63 - 1.
inline size_t GetDataSize(const DLTensor& tensor) { return GetDataSize(TensorView(&tensor)); }

/// True if DLTensor::data is an address, and not the handle of a buffer, for tensors on this
/// device: CPU, CUDA, ROCm, their pinned and managed memory, and oneAPI. False for other and
/// unknown device types. Throws nothing.
constexpr bool is_address(DLDevice device) {
  switch (static_cast<int>(device.device_type)) {
    case 1:   // CPU
    case 2:   // CUDA
    case 3:   // pinned for CUDA
    case 10:  // ROCm
    case 11:  // pinned for ROCm
    case 13:  // CUDA managed
    case 14:  // kDLOneAPI: unified shared memory
      return true;
    default: return false;
  }
}

/// True if the address of the first element, byte_offset included, is a multiple of `alignment`
/// [bytes], which must not be 0. On a device whose data is a handle, only the offset is checked.
/// Throws nothing.
inline bool IsAligned(const DLTensor& tensor, size_t alignment) {
  const auto base = is_address(tensor.device) ? reinterpret_cast<uintptr_t>(tensor.data) : 0;
  return (base + tensor.byte_offset) % alignment == 0;
}

}  // namespace kernkit
