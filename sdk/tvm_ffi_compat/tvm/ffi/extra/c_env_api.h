// SPDX-License-Identifier: Apache-2.0
// The caller's stream and allocator. These are C++ functions: C functions of the same names in a
// library would replace the runtime's functions.
#pragma once

#include "kernkit/cpu/allocator.h"
#include "kernkit/env.h"
#include "kernkit/owning_tensor.h"
#include "tvm/ffi/error.h"

using TVMFFIStreamHandle = void*;
using TVMFFIObjectHandle = void*;

/// Null, the default stream, if the caller set none or the process has no host.
inline TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id) {
  return kernkit::current_stream({static_cast<DLDeviceType>(device_type), device_id});
}
/// For FromEnvAlloc(). Returns 0, or -1 after the host has raised an error. CPU memory comes from
/// kernkit's allocator if no framework has set one. RuntimeError without a host.
inline int TVMFFIEnvTensorAlloc(DLTensor* prototype, TVMFFIObjectHandle* out) {
  auto* alloc = kernkit::host_api::env_tensor_alloc.get();
  TVM_FFI_CHECK(alloc != nullptr, RuntimeError) << "a Tensor can only be made by a host (such as "
                                                   "tvm_ffi), and none is in the process";
  if (!kernkit::detail::is_own_memory(prototype->device)) return alloc(prototype, out);
  const kernkit::ShapeView shape(prototype->shape, static_cast<size_t>(prototype->ndim));
  *out = kernkit::Tensor::FromNDAlloc(kernkit::CPUNDAlloc(), shape, prototype->dtype,
                                      prototype->device)
             .detach();
  return 0;
}
