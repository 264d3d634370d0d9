// SPDX-License-Identifier: Apache-2.0
// The core's contexts. The runtime's API uses the primary context of each device; the driver's API
// also creates contexts. Each thread has a stack of contexts, whose top is the current context and
// determines the current device. Source of the rules: cuda.h of CUDA 13.0 at cuCtxCreate,
// cuCtxPushCurrent and cuDevicePrimaryCtxRetain.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "runtime/core/call.h"

// The object that a CUcontext points to.
struct CUctx_st {
  int device;
  bool is_primary;
  unsigned flags;
  unsigned long long id;  // position in the order of all contexts, from 1 on
  unsigned retained = 0;  // calls of cuDevicePrimaryCtxRetain() minus releases
  bool used_by_runtime = false;
  bool destroyed = false;  // whether destroy_context() destroyed the context
};

namespace kernkit::simulator::core {

/// The state that a function of the driver's API needs.
enum class Needs {
  kNothing,
  kInit,     // cuInit(); otherwise cudaErrorInitializationError
  kContext,  // cuInit() and a current context; otherwise cudaErrorDeviceUninitialized
};

/// Initialises the driver's API, as cuInit() and each function of the runtime's API do.
cudaError_t start_driver();
/// Runs `work`, the body of the driver API function `function`, through call(). Returns an error if
/// the state that the function requires is missing.
cudaError_t call_driver(const char* function, Needs needs, ApiScope scope,
                        const std::function<cudaError_t()>& work);

/// Creates a context and pushes the context onto the thread's stack.
cudaError_t create_context(CUctx_st** context, unsigned flags, int device);
/// Destroys a context of create_context() with its streams and events, and frees its memory. Pops
/// the context if it is current.
cudaError_t destroy_context(CUctx_st* context);
cudaError_t push_context(CUctx_st* context);
/// Pops the current context and stores it unless `context` is null.
cudaError_t pop_context(CUctx_st** context);
/// Replaces the current context by `context`; null only pops the current context.
cudaError_t set_context(CUctx_st* context);
/// Stores the current context; null if there is none.
cudaError_t read_context(CUctx_st** context);
/// Checks the context *context; null is first replaced by the current context. Returns
/// cudaErrorDeviceUninitialized if the context does not exist, and cudaErrorContextIsDestroyed if
/// it was destroyed.
cudaError_t find_context(const CUctx_st** context);

cudaError_t retain_primary(CUctx_st** context, int device);
/// Releases the primary context; the last release resets the device.
cudaError_t release_primary(int device);
cudaError_t reset_primary(int device);
cudaError_t set_primary_flags(int device, unsigned flags);
/// Stores the flags of a device's primary context, and in *active 1 if the context is in use,
/// otherwise 0.
cudaError_t read_primary(int device, unsigned* flags, int* active);

/// Stores the context in which the stream was created.
cudaError_t read_context_of_stream(cudaStream_t stream, CUctx_st** context);
/// Stores the context in which the memory at an address was allocated.
cudaError_t read_context_of_memory(const void* address, CUctx_st** context);

}  // namespace kernkit::simulator::core
