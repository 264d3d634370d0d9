// SPDX-License-Identifier: Apache-2.0
// The caller's framework: its current stream.
#pragma once

#include "kernkit/device.h"
#include "kernkit/host_api.h"

namespace kernkit {

/// The stream that the caller's framework works on, for this thread and device; null (the default
/// stream) when the framework set none or no host is in the process. A thread that a kernel starts
/// itself has no stream of its own: read it before, and pass it on.
inline void* current_stream(DLDevice device) {
  auto* get_stream = host_api::env_get_stream.get();
  if (get_stream == nullptr) return nullptr;
  return get_stream(static_cast<int32_t>(device.device_type), device.device_id);
}

}  // namespace kernkit
