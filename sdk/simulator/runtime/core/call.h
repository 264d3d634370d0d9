// SPDX-License-Identifier: Apache-2.0
// The core: the work of both APIs, the runtime's (cuda*) and the driver's (cu*). Functions of
// namespace core return an error and leave the thread's last error alone. The runtime's API keeps
// the error as the last error; the driver's API maps it to a CUresult.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>

namespace kernkit::simulator {

/// What an API function uses.
enum class ApiScope {
  kProcess,  // reads a fact of the API, before and without its initialisation
  kHost,     // queries or sets state of this process
  kDevice,   // reaches the current device, and returns its planted error
  kUnsafe,   // reaches the device, and is potentially unsafe during a capture
};

namespace core {

/// Runs a function of an API: records the call under the function's name, injects a test's error,
/// and returns the error of `work` or of the device.
cudaError_t call(const char* function, ApiScope scope, const std::function<cudaError_t()>& work);

/// Records a finding of memcheck about the current call; returns the error.
cudaError_t reject(const std::string& message, cudaError_t error);

}  // namespace core
}  // namespace kernkit::simulator
