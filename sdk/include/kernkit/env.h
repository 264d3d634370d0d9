// SPDX-License-Identifier: Apache-2.0
// The caller's framework: its current stream and its allocator, per thread.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api/host_api.h"
#include "kernkit/types/device.h"

namespace kernkit {

/// The stream that the caller's framework works on, for this thread and device; null (the default
/// stream) when the framework set none or no host is in the process. A thread that a kernel starts
/// itself has no stream of its own: read it before, and pass it on.
inline void* current_stream(DLDevice device) {
  auto* get_stream = host_api::env_get_stream.get();
  if (get_stream == nullptr) return nullptr;
  return get_stream(static_cast<int32_t>(device.device_type), device.device_id);
}

/// Makes `stream` current for this thread and device, for every library in the process; returns the
/// one that was. Throws RuntimeError when no host is in the process, ValueError for a device id
/// below 0.
void* set_current_stream(DLDevice device, void* stream);

/// A current stream for the length of a scope: `StreamGuard guard(x.device(), stream);`
class StreamGuard {
 public:
  /// Throws as set_current_stream() does.
  StreamGuard(DLDevice device, void* stream)
      : device_(device), previous_(set_current_stream(device, stream)) {}
  /// Restores the stream that was current.
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DLDevice device_;
  void* previous_;
};

/// The allocator of the caller's framework, which Tensor::FromEnvAlloc() uses; null when none was
/// set or no host is in the process.
TensorAllocator current_allocator();

/// Makes `allocator` current for this thread; null takes it away. Returns the one that was. Throws
/// RuntimeError when no host is in the process.
TensorAllocator set_current_allocator(TensorAllocator allocator);

/// A current allocator for the length of a scope.
class AllocatorGuard {
 public:
  /// Throws as set_current_allocator() does.
  explicit AllocatorGuard(TensorAllocator allocator)
      : previous_(set_current_allocator(allocator)) {}
  /// Restores the allocator that was current.
  ~AllocatorGuard();
  AllocatorGuard(const AllocatorGuard&) = delete;
  AllocatorGuard& operator=(const AllocatorGuard&) = delete;

 private:
  TensorAllocator previous_;
};

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/env.h"
#endif
