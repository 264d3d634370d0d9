// SPDX-License-Identifier: Apache-2.0
// Error and device functions of the runtime.
#include <cstdio>
#include <utility>

#include "runtime/core/devices.h"
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

namespace core {

const char* text_of_error(cudaError_t error) {
  const ErrorText names = text_of(error);
  return names.name != names.text ? names.text : nullptr;
}

cudaError_t count_devices(int* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  *count = static_cast<int>(state().devices.size());
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t set_device(int device) {
  if (!exists(device)) return state().devices.empty() ? cudaErrorNoDevice : cudaErrorInvalidDevice;
  make_primary_current(device);
  return cudaSuccess;
}

cudaError_t read_device_attribute(int* value, int attribute, int device) {
  if (value == nullptr) return cudaErrorInvalidValue;
  if (!exists(device)) return cudaErrorInvalidDevice;
  const CudaDevice& properties = state().devices[static_cast<size_t>(device)];
  const int ordinal = state().device_states[static_cast<size_t>(device)].ordinal;
  if (find_device_attribute(properties, ordinal, attribute, value)) return cudaSuccess;
  std::fprintf(stderr,
               "kernkit: %s(): attribute %d is not supported: CUDA 13.0 reserves the number or "
               "does not have it\n",
               thread_state().function, attribute);
  return cudaErrorNotSupported;
}

cudaError_t wait_for_device() {
  const int device = thread_state().device;
  if (reject_device(device)) return cudaErrorStreamCaptureUnsupported;
  drain_device(device);
  release_unused_of_pools(device);
  return error_of_device(device);
}

cudaError_t read_priorities(int* least, int* greatest) {
  if (least != nullptr) *least = kLeastPriority;
  if (greatest != nullptr) *greatest = kGreatestPriority;
  return cudaSuccess;
}

cudaError_t read_driver_version(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = state().driver_version;
  return cudaSuccess;
}

}  // namespace core
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
  return call("cudaGetDeviceCount", ApiScope::kHost, [&] { return core::count_devices(count); });
}
cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", ApiScope::kHost, [&] {
    if (state().devices.empty()) return cudaErrorNoDevice;
    *device = thread_state().device;
    return cudaSuccess;
  });
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", ApiScope::kHost, [&] { return core::set_device(device); });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", ApiScope::kHost,
              [&] { return core::read_device_attribute(value, attribute, device); });
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", ApiScope::kUnsafe, [] { return core::wait_for_device(); });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", ApiScope::kHost,
              [&] { return core::read_priorities(least, greatest); });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", ApiScope::kProcess,
              [&] { return core::read_driver_version(version); });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", ApiScope::kProcess, [&] {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

}  // extern "C"
