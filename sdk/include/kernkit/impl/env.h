// SPDX-License-Identifier: Apache-2.0
// The current stream and allocator of the caller's framework.
#pragma once

#include "kernkit/env.h"
#include "kernkit/host_api/host_error.h"

namespace kernkit {

KERNKIT_COLD void* set_current_stream(DLDevice device, void* stream) {
  KERNKIT_CHECK(device.device_id >= 0, ValueError)
      << "set_current_stream: device " << device << " has a negative id";
  auto* set_stream = host_api::env_set_stream.get();
  KERNKIT_CHECK(set_stream != nullptr, RuntimeError)
      << "set_current_stream: found no host in this process that holds the current streams; load a "
         "host first, such as tvm_ffi";
  void* previous = nullptr;
  if (set_stream(static_cast<int32_t>(device.device_type), device.device_id, stream, &previous) !=
      0) {
    detail::throw_raised("set_current_stream");
  }
  return previous;
}

KERNKIT_COLD StreamGuard::~StreamGuard() {
  // set_stream is not null, because the constructor has succeeded: a host is in the process and
  // supports the device.
  auto* set_stream = host_api::env_set_stream.get();
  (void)set_stream(static_cast<int32_t>(device_.device_type), device_.device_id, previous_,
                   nullptr);
}

KERNKIT_COLD TensorAllocator current_allocator() {
  auto* get_allocator = host_api::env_get_allocator.get();
  return get_allocator == nullptr ? nullptr : get_allocator();
}

KERNKIT_COLD TensorAllocator set_current_allocator(TensorAllocator allocator) {
  auto* set_allocator = host_api::env_set_allocator.get();
  KERNKIT_CHECK(set_allocator != nullptr, RuntimeError)
      << "set_current_allocator: found no host in this process that holds the current allocator; "
         "load a host first, such as tvm_ffi";
  TensorAllocator previous = nullptr;
  if (set_allocator(allocator, /*write_to_global_context=*/0, &previous) != 0) {
    detail::throw_raised("set_current_allocator");
  }
  return previous;
}

KERNKIT_COLD AllocatorGuard::~AllocatorGuard() {
  (void)host_api::env_set_allocator.get()(previous_, 0, nullptr);
}

}  // namespace kernkit
