// SPDX-License-Identifier: Apache-2.0
// The C functions of the host (the process that calls this library), looked up when needed.
//
// A kernel library links no host. It may be loaded before the host, and the host may have been
// loaded RTLD_LOCAL, so a link-time or weak reference could be null although there is a host.
#pragma once

#include "kernkit/abi/abi.h"
#include "kernkit/base/cold.h"

/// The host's handle of this library, which the host's loader writes; null without a host or in a
/// program. Defined by export.h.
extern "C" __attribute__((weak, visibility("default"))) void* __tvm_ffi__library_ctx;

namespace kernkit::detail {

/// A function of tvm_ffi, or of the kernkit runtime that this library uses.
[[gnu::cold]] void* find_host_function(const char* name);

/// kernkit_host_find() of a kernkit runtime (kernkit/host/runtime.h).
using FindHost = void* (*)(const char* name);

/// Sets the runtime that this library uses while tvm_ffi is not in the process. A later call
/// changes nothing. Returns the runtime of the first call.
[[gnu::cold]] FindHost use_host(FindHost find);

/// One function of the host. get() looks it up and keeps the result, unless it was not found, since
/// the host may be loaded later. (A function of a kernkit runtime may be kept as well: it forwards
/// to tvm_ffi once that is loaded.) Safe from several threads.
template <class Function>
class HostFunction {
 public:
  constexpr explicit HostFunction(const char* name) : name_(name) {}

  /// The function, or null without a host in the process.
  Function* get() {
    void* function = __atomic_load_n(&function_, __ATOMIC_ACQUIRE);
    if (__builtin_expect(function == nullptr, 0)) {
      function = find_host_function(name_);
      __atomic_store_n(&function_, function, __ATOMIC_RELEASE);
    }
    return reinterpret_cast<Function*>(function);
  }

 private:
  const char* name_;
  void* function_ = nullptr;
};

}  // namespace kernkit::detail

namespace kernkit {

/// A framework's allocator: DLPackManagedTensorAllocator of dlpack.h 1.2. Reads shape, dtype and
/// device of `prototype`, sets *out to a new tensor, whose deleter the caller calls, and returns 0;
/// or calls set_error(error_ctx, kind, message) and returns -1. Any thread may call the allocator,
/// whose code must stay loaded.
using TensorAllocator = int (*)(DLTensor* prototype, DLManagedTensorVersioned** out,
                                void* error_ctx,
                                void (*set_error)(void* error_ctx, const char* kind,
                                                  const char* message));

}  // namespace kernkit

namespace kernkit::host_api {

// Signatures: tvm/ffi/c_api.h and tvm/ffi/extra/c_env_api.h, release 0.1. Functions that return int
// return 0, or -1 with an error in the host's slot. get() returns null without a host.

/// Sets *out to a new error object with copies of the three texts, whose reference the caller owns.
/// Returns 0, or -1 without memory.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* kind,
                                              const KernkitByteArray* message,
                                              const KernkitByteArray* backtrace, void** out)>
    error_create("TVMFFIErrorCreate");
/// Stores an error object, with a reference of its own, in the thread's slot of the host, and
/// releases the error that was there.
KERNKIT_LOCAL inline detail::HostFunction<void(void* error)> error_set_raised(
    "TVMFFIErrorSetRaised");
/// Releases one reference of an object, which must not be null; the last reference destroys the
/// object. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* object)> object_dec_ref("TVMFFIObjectDecRef");
/// Sets *out to a text: a small string (up to 7 bytes), or a new object with a copy, whose
/// reference the caller owns. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* text, KernkitAny* out)>
    string_from_byte_array("TVMFFIStringFromByteArray");
/// Sets *out to the host's global function of that name, with a reference that the caller owns, or
/// to null. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* name, void** out)>
    function_get_global("TVMFFIFunctionGetGlobal");
/// Calls a function object with borrowed arguments, in this thread, and sets *result to a value
/// that the caller owns. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* function, const KernkitAny* args,
                                              int32_t num_args, KernkitAny* result)>
    function_call("TVMFFIFunctionCall");
/// Returns the thread's current stream of a device, borrowed; null is the default stream, also if
/// none was set.
KERNKIT_LOCAL inline detail::HostFunction<void*(int32_t device_type, int32_t device_id)>
    env_get_stream("TVMFFIEnvGetStream");
/// Moves the error from the thread's slot to *error, with a reference that the caller then owns;
/// null if the slot is empty.
KERNKIT_LOCAL inline detail::HostFunction<void(void** error)> error_move_from_raised(
    "TVMFFIErrorMoveFromRaised");
/// Sets *out to bytes: small bytes (up to 7), or a new object with a copy, whose reference the
/// caller owns. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* bytes, KernkitAny* out)>
    bytes_from_byte_array("TVMFFIBytesFromByteArray");
/// Sets *out to a new function object, which calls `call` with `self`, and `deleter`, in the thread
/// that releases the last owner, at its end. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* self, KernkitFunction call,
                                              void (*deleter)(void* self), void** out)>
    function_create("TVMFFIFunctionCreate");
/// Sets *out to a new tensor object that owns `from`, a tensor of DLPack before 1.0. Alignment in
/// bytes; 0 requires nothing. Returns 0, or -1, after which the caller still owns `from`.
KERNKIT_LOCAL inline detail::HostFunction<int(DLManagedTensor* from, int32_t require_alignment,
                                              int32_t require_contiguous, void** out)>
    tensor_from_dlpack("TVMFFITensorFromDLPack");
/// Sets *out to a new tensor object that owns `from`. Alignment in bytes; 0 requires nothing.
/// Returns 0, or -1, after which the caller still owns `from`.
KERNKIT_LOCAL inline detail::HostFunction<int(DLManagedTensorVersioned* from,
                                              int32_t require_alignment, int32_t require_contiguous,
                                              void** out)>
    tensor_from_dlpack_versioned("TVMFFITensorFromDLPackVersioned");
/// Sets *out to a new owner of a tensor object, for a consumer of DLPack before 1.0, which must
/// call the deleter. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* tensor, DLManagedTensor** out)>
    tensor_to_dlpack("TVMFFITensorToDLPack");
/// Sets *out to a new owner of a tensor object, for a consumer of DLPack, which must call the
/// deleter. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* tensor, DLManagedTensorVersioned** out)>
    tensor_to_dlpack_versioned("TVMFFITensorToDLPackVersioned");
/// Sets *out to a new tensor object with the shape, dtype and device of `prototype`, allocated by
/// the current allocator; the contents are uninitialised, and the caller owns the reference.
/// Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(DLTensor* prototype, void** out)> env_tensor_alloc(
    "TVMFFIEnvTensorAlloc");
/// Makes a stream, which the host does not own, current for the thread and a device, and sets
/// *previous unless it is null. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(int32_t device_type, int32_t device_id, void* stream,
                                              void** previous)>
    env_set_stream("TVMFFIEnvSetStream");
/// Returns the thread's current allocator, otherwise that of the process; null without either.
KERNKIT_LOCAL inline detail::HostFunction<TensorAllocator()> env_get_allocator(
    "TVMFFIEnvGetDLPackManagedTensorAllocator");
/// Makes an allocator current for the thread (and, if the second argument is not 0, in the host's
/// global context), and sets *previous unless it is null. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<
    int(TensorAllocator allocator, int write_to_global_context, TensorAllocator* previous)>
    env_set_allocator("TVMFFIEnvSetDLPackManagedTensorAllocator");

}  // namespace kernkit::host_api

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/host_api.h"
#endif
