// SPDX-License-Identifier: Apache-2.0
// The core: the work of both APIs, the runtime's (cuda*) and the driver's (cu*). Functions of
// namespace core return an error and do not change the thread's last error. The runtime's API
// stores the error as the last error; the driver's API maps the error to a CUresult.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <string>

namespace kernkit::simulator {

/// Kind of state that an API function accesses. The kind selects the checks of call().
enum class ApiScope {
  kProcess,  // reads a property of the API; needs no initialisation
  kHost,     // queries or sets state of this process
  kDevice,   // reaches the current device, and returns its planted error
  kUnsafe,   // like kDevice, and potentially unsafe during a capture
};

namespace core {

/// Runs `work`, the body of the API function `function`, and records the call. Returns the error of
/// `work`, an error that CudaRuntime::fail() planned, or an error of the device.
cudaError_t call(const char* function, ApiScope scope, const std::function<cudaError_t()>& work);

/// Records a memcheck finding about the current call, and returns `error`.
cudaError_t reject(const std::string& message, cudaError_t error);

/// Prints a sentence and adds the sentence to the reports of the process. To be called from the
/// work of call().
void report(const std::string& sentence);

}  // namespace core
}  // namespace kernkit::simulator
