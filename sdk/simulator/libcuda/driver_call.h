// SPDX-License-Identifier: Apache-2.0
// Calls of the driver's API (cu*) over the core, which the runtime's API (cuda*) shares. A stream,
// event, graph, pool, kernel or library of one API is valid in the other API.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "libcudart/structures.h"
#include "runtime/core/call.h"
#include "runtime/core/contexts.h"

namespace kernkit::simulator::driver {

using core::Needs;

/// Returns the driver's code for an error of the core.
CUresult result_of(cudaError_t error);

/// Runs `work`, the body of the driver API function `function` (its name without a suffix such as
/// _v2), and returns the driver's code for the cudaError_t that `work` returns. The function needs
/// a current context.
template <class Work>
CUresult call(const char* function, ApiScope scope, const Work& work) {
  return result_of(core::call_driver(function, Needs::kContext, scope, work));
}
/// Like call(), for a function that needs no current context.
template <class Work>
CUresult call_without_context(const char* function, const Work& work) {
  return result_of(core::call_driver(function, Needs::kInit, ApiScope::kHost, work));
}

inline void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
/// Converts a pointer to a device address to the type through which the core stores an address.
inline void** pointer_to(CUdeviceptr* address) { return reinterpret_cast<void**>(address); }
inline const void* kernel_of(CUfunction function) { return function; }
inline const void* kernel_of(CUkernel kernel) { return kernel; }
/// Converts the parameters of a three-dimensional copy from the driver's to the runtime's
/// structure.
cudaError_t convert(const CUDA_MEMCPY3D* all, Memcpy3DParms* parameters);
inline CUlib_st* library_of(CUmodule module) { return reinterpret_cast<CUlib_st*>(module); }

}  // namespace kernkit::simulator::driver
