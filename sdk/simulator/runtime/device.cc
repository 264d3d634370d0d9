// SPDX-License-Identifier: Apache-2.0
// Error and device functions of the runtime.
#include <cstdio>
#include <utility>

#include "runtime/device_attributes.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

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
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

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
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!exists(device)) return cudaErrorInvalidDevice;
    const CudaDevice& asked = state().devices[static_cast<size_t>(device)];
    if (find_device_attribute(asked, device, attribute, value)) return cudaSuccess;
    std::fprintf(stderr,
                 "kernkit: cudaDeviceGetAttribute(): attribute %d is not supported: CUDA 13.0 "
                 "reserves the number or does not have it\n",
                 static_cast<int>(attribute));
    return cudaErrorNotSupported;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", Reach::kUnsafe, [] {
    const int device = thread_state().device;
    if (reject_device(device)) return cudaErrorStreamCaptureUnsupported;
    drain_device(device);
    release_unused_of_pools(device);
    return error_of_device(device);
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", Reach::kHost, [&] {
    *least = kLeastPriority;
    *greatest = kGreatestPriority;
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
