// SPDX-License-Identifier: Apache-2.0
// The current streams and allocator of each thread. tvm_ffi stores both once it is loaded.
#pragma once

#include <cstdint>

#include "kernkit/host_api/host_api.h"

namespace kernkit::host {

/// Returns the stream that this thread set for the device; null if no stream was set.
void* get_stream(int32_t device_type, int32_t device_id) noexcept;
/// Sets the stream of this thread for a device, and stores the previous stream in *original unless
/// `original` is null. Returns 0, or -1 if this thread has already set streams on 64 devices.
int set_stream(int32_t device_type, int32_t device_id, void* stream, void** original) noexcept;

TensorAllocator get_allocator() noexcept;
int set_allocator(TensorAllocator allocator, int for_all_threads,
                  TensorAllocator* original) noexcept;

}  // namespace kernkit::host
