// SPDX-License-Identifier: Apache-2.0
// The functions of the host, with tvm_ffi's types. After tvm_ffi is loaded, the functions forward
// to tvm_ffi or handle objects of both hosts, so callers may keep their addresses.
#pragma once

#include "kernkit/host_api/host_api.h"

namespace kernkit::host {

// errors.cc
int error_create(const KernkitByteArray* kind, const KernkitByteArray* message,
                 const KernkitByteArray* backtrace, void** out) noexcept;
void error_set_raised(void* error) noexcept;
void error_move_from_raised(void** out) noexcept;
/// Creates and raises an error. `context` is unused: the function is passed to a TensorAllocator as
/// set_error, which has this parameter.
void raise(void* context, const char* kind, const char* message) noexcept;
/// Creates and raises an error; returns -1.
int fail(const char* kind, const char* message) noexcept;

// values.cc
int object_inc_ref(void* object) noexcept;
int object_dec_ref(void* object) noexcept;
int string_from_byte_array(const KernkitByteArray* text, KernkitAny* out) noexcept;
int bytes_from_byte_array(const KernkitByteArray* bytes, KernkitAny* out) noexcept;
int function_create(void* self, KernkitFunction call, void (*deleter)(void*), void** out) noexcept;
int function_call(void* function, const KernkitAny* args, int32_t num_args,
                  KernkitAny* result) noexcept;
int function_get_global(const KernkitByteArray* name, void** out) noexcept;

// tensors.cc
int tensor_from_dlpack(DLManagedTensor* from, int32_t alignment, int32_t contiguous,
                       void** out) noexcept;
int tensor_from_dlpack_versioned(DLManagedTensorVersioned* from, int32_t alignment,
                                 int32_t contiguous, void** out) noexcept;
int tensor_to_dlpack(void* from, DLManagedTensor** out) noexcept;
int tensor_to_dlpack_versioned(void* from, DLManagedTensorVersioned** out) noexcept;
int env_tensor_alloc(DLTensor* prototype, void** out) noexcept;

// adapt.cc
/// Copies *any to *out by functions of tvm_ffi if the runtime made *any before tvm_ffi was loaded.
/// Returns 1 if *out owns a copy, 0 if no copy is needed, -1 after an error.
int adapt(const KernkitAny* any, KernkitAny* out) noexcept;

}  // namespace kernkit::host
