// SPDX-License-Identifier: Apache-2.0
// Bytes: the memory of a tensor as the host reads it, in place or as a copy from a CUDA device.
#pragma once

#include "kernkit/env.h"
#include "kernkit/logging/impl/describe.h"
#include "kernkit/memory/overlap.h"

#if defined(KERNKIT_WITH_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace kernkit::logging {

/// The address range [begin, end).
struct Range {
  uintptr_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

/// Sets *out to the addresses of a tensor's elements, from the lowest to the highest, or to an
/// empty range for a tensor without elements. Returns false if the tensor has no readable shape or
/// no memory.
inline bool range_of(const DLTensor* tensor, Range* out) {
  *out = {};
  if (!has_shape(tensor)) return false;
  const int64_t count = detail::count_elements(tensor);
  if (count <= 0) return count == 0;
  int64_t low, high;
  const uintptr_t first = detail::address_of(tensor);
  const int64_t bits = dtype_bits(tensor->dtype);
  if (first == 0 || !detail::offset_range(TensorView(tensor), &low, &high)) return false;
  if (__builtin_add_overflow(high, 1, &high) || __builtin_mul_overflow(low, bits, &low) ||
      __builtin_mul_overflow(high, bits, &high) || __builtin_add_overflow(high, 7, &high)) {
    return false;
  }
  const auto below = static_cast<uintptr_t>(-low + 7) / 8;
  if (below > first) return false;
  out->begin = first - below;
  return !__builtin_add_overflow(first, static_cast<uintptr_t>(high / 8), &out->end);
}

/// The contents of an address range in the memory of a device. error() returns null if the contents
/// can be read, otherwise the reason why the contents cannot be read.
class Bytes {
 public:
  /// Reads the memory of a CUDA device by a copy on the thread's current stream, and waits for the
  /// copy. Copies nothing if the stream is being captured, or if the range has more than `limit`
  /// bytes.
  Bytes(DLDevice device, Range range, uint64_t limit) {
    if (range.size() == 0) return;
    if (is_host_memory(device)) {
      data_ = reinterpret_cast<const char*>(range.begin);
    } else if (range.size() > limit) {
      error_ = "larger than the limit of a copy";
    } else {
      error_ = copy(device, range);
    }
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { free(copied_); }

  const char* error() const { return error_; }
  /// Returns the address of the first byte of the range.
  const char* data() const { return data_; }

 private:
  const char* copy([[maybe_unused]] DLDevice device, [[maybe_unused]] Range range) {
#if defined(KERNKIT_WITH_CUDA)
    if (device.device_type != kDLCUDA && device.device_type != kDLCUDAManaged) {
      return "on a device whose memory is not read";
    }
    const auto stream = static_cast<cudaStream_t>(current_stream({kDLCUDA, device.device_id}));
    int previous = 0;
    if (!ok(cudaGetDevice(&previous))) return "CUDA reports an error";
    if (previous != device.device_id && !ok(cudaSetDevice(device.device_id))) {
      return "CUDA reports an error";
    }
    const char* error = copy_on(stream, range);
    if (previous != device.device_id) (void)ok(cudaSetDevice(previous));
    return error;
#else
    return "on a device, and this library has no CUDA code";
#endif
  }

#if defined(KERNKIT_WITH_CUDA)
  /// Returns whether `error` is cudaSuccess; otherwise clears the runtime's last error.
  static bool ok(cudaError_t error) {
    if (error != cudaSuccess) (void)cudaGetLastError();
    return error == cudaSuccess;
  }
  const char* copy_on(cudaStream_t stream, Range range) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (!ok(cudaStreamIsCapturing(stream, &status)) || status != cudaStreamCaptureStatusNone) {
      return "the stream is captured";
    }
    copied_ = static_cast<char*>(malloc(range.size()));
    if (copied_ == nullptr) return "no memory for a copy";
    const auto* source = reinterpret_cast<const void*>(range.begin);
    if (!ok(cudaMemcpyAsync(copied_, source, range.size(), cudaMemcpyDeviceToHost, stream)) ||
        !ok(cudaStreamSynchronize(stream))) {
      return "CUDA reports an error";
    }
    data_ = copied_;
    return nullptr;
  }
#endif

  const char* data_ = nullptr;
  char* copied_ = nullptr;
  const char* error_ = nullptr;
};

}  // namespace kernkit::logging
