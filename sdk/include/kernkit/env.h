// SPDX-License-Identifier: Apache-2.0
// The current stream and allocator of the caller's framework, for each thread.
#pragma once

#include "kernkit/error.h"
#include "kernkit/host_api/host_api.h"
#include "kernkit/types/device.h"

namespace kernkit {

/// Returns the current stream of the caller's framework, for this thread and device (for CUDA a
/// cudaStream_t); null (the default stream) if the framework set none or the process has no host.
/// The stream belongs to the framework. A thread that an exported function starts has no stream:
/// read the stream before starting the thread, and pass the stream to the thread. Throws nothing.
inline void* current_stream(DLDevice device) {
  auto* get_stream = host_api::env_get_stream.get();
  if (get_stream == nullptr) return nullptr;
  return get_stream(static_cast<int32_t>(device.device_type), device.device_id);
}

/// Makes `stream` (for CUDA a cudaStream_t; null is the default stream) current for this thread and
/// device, for every library in the process; returns the previous stream, null if there was none.
/// Does not create, order or wait for streams; the stream must exist as long as it is current.
/// Throws RuntimeError without a host, ValueError for a negative device id, and the host's error
/// for a device that the host does not support.
void* set_current_stream(DLDevice device, void* stream);

/// Sets a current stream for a scope: `StreamGuard guard(x.device(), stream);`
class StreamGuard {
 public:
  /// Makes `stream`, which must outlive the guard, current on `device` for this thread. Throws as
  /// set_current_stream() does: RuntimeError without a host, ValueError for a negative device id,
  /// and the host's error.
  StreamGuard(DLDevice device, void* stream)
      : device_(device), previous_(set_current_stream(device, stream)) {}
  /// Restores the previous stream, without waiting for any stream. Throws nothing. Destroy the
  /// guard in the thread that created the guard.
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

 private:
  DLDevice device_;
  void* previous_;
};

/// Returns the allocator of the caller's framework, which Tensor::FromEnvAlloc() uses: the
/// allocator of this thread, otherwise the allocator of the process; null if none was set or the
/// process has no host. Throws nothing.
TensorAllocator current_allocator();

/// Makes `allocator`, whose code must stay loaded, current for this thread and every library in the
/// process; null removes the allocator. Returns the thread's previous allocator, or null. Throws
/// RuntimeError without a host, and the host's error.
TensorAllocator set_current_allocator(TensorAllocator allocator);

/// Sets a current allocator for a scope and this thread: `AllocatorGuard guard(allocator);`
class AllocatorGuard {
 public:
  /// Makes `allocator`, which may be null, current for this thread. Throws as
  /// set_current_allocator() does: RuntimeError without a host, and the host's error.
  explicit AllocatorGuard(TensorAllocator allocator)
      : previous_(set_current_allocator(allocator)) {}
  /// Restores the previous allocator. Throws nothing. Destroy the guard in the thread that created
  /// the guard.
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
