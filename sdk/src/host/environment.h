// SPDX-License-Identifier: Apache-2.0
// Streams and allocators, for each thread, as long as tvm_ffi does not keep them.
#pragma once

#include <cstdint>

#include "kernkit/host_api/host_api.h"

namespace kernkit::host {

/// Null when none was set.
void* get_stream(int32_t device_type, int32_t device_id) noexcept;
/// 0, or -1 when this thread has set one on 64 devices already.
int set_stream(int32_t device_type, int32_t device_id, void* stream, void** original) noexcept;

TensorAllocator get_allocator() noexcept;
int set_allocator(TensorAllocator allocator, int for_all_threads,
                  TensorAllocator* original) noexcept;

}  // namespace kernkit::host
