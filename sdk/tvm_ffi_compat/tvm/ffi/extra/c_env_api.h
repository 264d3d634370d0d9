// SPDX-License-Identifier: Apache-2.0
// The caller's stream and allocator. These are C++ functions: C functions of the same names in a
// library would replace the runtime's functions.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/env.h"
#include "kernkit/owning_tensor.h"
#include "tvm/ffi/error.h"

/// A stream of a device, such as a cudaStream_t.
using TVMFFIStreamHandle = void*;
/// An object of the host.
using TVMFFIObjectHandle = void*;

/// Returns the caller's stream of a device for this thread; null, the default stream, if the caller
/// set none or the process has no host. `device_type` is a DLDeviceType.
inline TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) {
  return kernkit::current_stream({static_cast<DLDeviceType>(device_type), device_id});
}
/// Allocates a tensor with the shape, dtype and device of `prototype` through the caller's
/// framework, and stores the object in *out, for FromEnvAlloc(). Returns 0, or -1 after the host
/// has raised an error. CPU memory comes from kernkit's allocator if no framework has set an
/// allocator. Throws RuntimeError without a host, and the errors of FromNDAlloc() for CPU memory.
inline int TVMFFIEnvTensorAlloc(DLTensor* prototype, TVMFFIObjectHandle* out) {
  auto* alloc = kernkit::host_api::env_tensor_alloc.get();
  TVM_FFI_CHECK(alloc != nullptr, RuntimeError)
      << "a Tensor is made by a host; found no host in this process; load a host first, such as "
         "tvm_ffi";
  if (!kernkit::detail::is_own_memory(prototype->device)) return alloc(prototype, out);
  const kernkit::ShapeView shape(prototype->shape, static_cast<size_t>(prototype->ndim));
  *out = kernkit::Tensor::FromNDAlloc(kernkit::CPUNDAlloc(), shape, prototype->dtype,
                                      prototype->device)
             .detach();
  return 0;
}
