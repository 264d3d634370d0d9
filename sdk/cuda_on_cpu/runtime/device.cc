// SPDX-License-Identifier: Apache-2.0
// Errors and devices.
#include <utility>

#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

// Of every architecture that has them: compute capability 8.0 and later.
int attribute_of(const CudaDevice& device, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return 1024;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return device.max_grid[0];
    case cudaDevAttrMaxGridDimY: return device.max_grid[1];
    case cudaDevAttrMaxGridDimZ: return device.max_grid[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return 48 * 1024;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMultiProcessorCount: return device.sm_count;
    case cudaDevAttrL2CacheSize: return 50 << 20;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
    case cudaDevAttrComputeCapabilityMajor: return device.compute_capability / 10;
    case cudaDevAttrComputeCapabilityMinor: return device.compute_capability % 10;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return device.shared_memory_per_block_opt_in + 1024;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported: return 1;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return device.shared_memory_per_block_opt_in;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return 32;
  }
  return -1;
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

ErrorText text_of(cudaError_t error) {
#define KERNKIT_ROW(name, number, text) {name, #name, text},
  static constexpr ErrorText kTexts[] = {KERNKIT_CUDA_ERRORS(KERNKIT_ROW)};
#undef KERNKIT_ROW
  for (const ErrorText& text : kTexts) {
    if (text.error == error) return text;
  }
  return {error, "unrecognized error code", "unrecognized error code"};
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaGetLastError() {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return std::exchange(thread_state().last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return thread_state().last_error;
}

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", Reach::kHost, [&] {
    *count = static_cast<int>(state().devices.size());
    return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", Reach::kHost, [&] {
    if (state().devices.empty()) return cudaErrorNoDevice;
    *device = thread_state().device;
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", Reach::kHost, [&] {
    if (!exists(device))
      return state().devices.empty() ? cudaErrorNoDevice : cudaErrorInvalidDevice;
    thread_state().device = device;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", Reach::kHost, [&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    *value = attribute_of(state().devices[static_cast<size_t>(device)], attribute);
    return *value < 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", Reach::kUnsafe, [] {
    const int device = thread_state().device;
    if (refuse_device(device)) return cudaErrorStreamCaptureUnsupported;
    drain_device(device);
    release_unused_of_pools(device);
    return error_of_device(device);
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", Reach::kHost, [&] {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", Reach::kHost, [&] {
    *version = state().driver_version;
    return cudaSuccess;
  });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", Reach::kHost, [&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

}  // extern "C"
