// SPDX-License-Identifier: Apache-2.0
// The C functions of the host (the process that calls this library), looked up when needed.
//
// A kernel library links no host. It may be loaded before the host, and the host may have been
// loaded RTLD_LOCAL, so a link-time or weak reference could be null although there is a host.
#pragma once

#include "kernkit/abi/abi.h"
#include "kernkit/base/cold.h"

/// Handle of this library, which the host's loader writes; null in a program, or while no host has
/// loaded the library. export.h defines the variable.
extern "C" __attribute__((weak, visibility("default"))) void* __tvm_ffi__library_ctx;

namespace kernkit::detail {

/// Returns the function `name` of tvm_ffi, or of the kernkit runtime that this library uses; null
/// if neither has the function.
[[gnu::cold]] void* find_host_function(const char* name);

/// Type of kernkit_host_find(), which a kernkit runtime defines (kernkit/host/runtime.h).
using FindHost = void* (*)(const char* name);

/// Sets the runtime that this library uses while tvm_ffi is not in the process. A later call
/// changes nothing. Returns the runtime of the first call.
[[gnu::cold]] FindHost use_host(FindHost find);

/// One function of the host. get() looks the function up and caches its address; a failed lookup is
/// not cached, since the host may be loaded later. (The address in a kernkit runtime may be cached
/// as well, because that function forwards to tvm_ffi once tvm_ffi is loaded.) Safe from several
/// threads.
template <class Function>
class HostFunction {
 public:
  constexpr explicit HostFunction(const char* name) : name_(name) {}

  /// Returns the function, or null without a host in the process.
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

/// Type of a framework's allocator, DLPackManagedTensorAllocator of dlpack.h 1.2. An allocator
/// reads shape, dtype and device of `prototype`, sets *out to a new tensor, whose deleter the
/// caller calls, and returns 0; or it calls set_error(error_ctx, kind, message) and returns -1. Any
/// thread may call an allocator, whose code must stay loaded.
using TensorAllocator = int (*)(DLTensor* prototype, DLManagedTensorVersioned** out,
                                void* error_ctx,
                                void (*set_error)(void* error_ctx, const char* kind,
                                                  const char* message));

}  // namespace kernkit

namespace kernkit::host_api {

// The signatures are the same as in tvm/ffi/c_api.h and tvm/ffi/extra/c_env_api.h, release 0.1.
// A function with the return type int returns 0, or -1 with an error in the host's error slot.
// HostFunction::get() returns null without a host in the process.

/// Sets *out to a new error object with copies of the three texts. The caller owns the reference to
/// the object. Returns 0, or -1 if memory is exhausted.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* kind,
                                              const KernkitByteArray* message,
                                              const KernkitByteArray* backtrace, void** out)>
    error_create("TVMFFIErrorCreate");
/// Adds a reference to an error object, stores the object in the host's error slot of this thread,
/// and releases the error that the slot held before.
KERNKIT_LOCAL inline detail::HostFunction<void(void* error)> error_set_raised(
    "TVMFFIErrorSetRaised");
/// Releases one reference to an object, which must not be null; the object is destroyed with its
/// last reference. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* object)> object_dec_ref("TVMFFIObjectDecRef");
/// Sets *out to a copy of the text: a small string (up to 7 bytes), or a new object, whose
/// reference the caller owns. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* text, KernkitAny* out)>
    string_from_byte_array("TVMFFIStringFromByteArray");
/// Sets *out to the host's global function with that name, with a reference that the caller owns,
/// or to null if there is none. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* name, void** out)>
    function_get_global("TVMFFIFunctionGetGlobal");
/// Calls a function object with borrowed arguments, in this thread, and sets *result to a value
/// that the caller owns. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* function, const KernkitAny* args,
                                              int32_t num_args, KernkitAny* result)>
    function_call("TVMFFIFunctionCall");
/// Returns the thread's current stream for a device, borrowed; null means the default stream, which
/// is current until another stream is set.
KERNKIT_LOCAL inline detail::HostFunction<void*(int32_t device_type, int32_t device_id)>
    env_get_stream("TVMFFIEnvGetStream");
/// Moves the error from the host's error slot of this thread to *error, with a reference that the
/// caller then owns. Sets *error to null if the slot is empty.
KERNKIT_LOCAL inline detail::HostFunction<void(void** error)> error_move_from_raised(
    "TVMFFIErrorMoveFromRaised");
/// Sets *out to a copy of the bytes: small bytes (up to 7), or a new object, whose reference the
/// caller owns. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(const KernkitByteArray* bytes, KernkitAny* out)>
    bytes_from_byte_array("TVMFFIBytesFromByteArray");
/// Sets *out to a new function object, which passes `self` to `call` in each call. When its last
/// owner releases the object, the releasing thread calls deleter(self). Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* self, KernkitFunction call,
                                              void (*deleter)(void* self), void** out)>
    function_create("TVMFFIFunctionCreate");
/// Sets *out to a new tensor object that owns `from`, a tensor of DLPack before 1.0. The alignment
/// is in bytes; 0 requires no alignment. Returns 0, or -1, in which case the caller still owns
/// `from`.
KERNKIT_LOCAL inline detail::HostFunction<int(DLManagedTensor* from, int32_t require_alignment,
                                              int32_t require_contiguous, void** out)>
    tensor_from_dlpack("TVMFFITensorFromDLPack");
/// Sets *out to a new tensor object that owns `from`. The alignment is in bytes; 0 requires no
/// alignment. Returns 0, or -1, in which case the caller still owns `from`.
KERNKIT_LOCAL inline detail::HostFunction<int(DLManagedTensorVersioned* from,
                                              int32_t require_alignment, int32_t require_contiguous,
                                              void** out)>
    tensor_from_dlpack_versioned("TVMFFITensorFromDLPackVersioned");
/// Adds an owner to a tensor object and sets *out to this owner as a tensor of DLPack before 1.0,
/// whose deleter the consumer must call. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* tensor, DLManagedTensor** out)>
    tensor_to_dlpack("TVMFFITensorToDLPack");
/// Adds an owner to a tensor object and sets *out to this owner as a versioned DLPack tensor, whose
/// deleter the consumer must call. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(void* tensor, DLManagedTensorVersioned** out)>
    tensor_to_dlpack_versioned("TVMFFITensorToDLPackVersioned");
/// Sets *out to a new tensor object with the shape, dtype and device of `prototype`, allocated by
/// the current allocator; the contents are uninitialised, and the caller owns the reference.
/// Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<int(DLTensor* prototype, void** out)> env_tensor_alloc(
    "TVMFFIEnvTensorAlloc");
/// Makes a stream the thread's current stream for a device, and sets *previous to the stream that
/// was current before, unless `previous` is null. The host does not own the stream. Returns 0 or
/// -1.
KERNKIT_LOCAL inline detail::HostFunction<int(int32_t device_type, int32_t device_id, void* stream,
                                              void** previous)>
    env_set_stream("TVMFFIEnvSetStream");
/// Returns the thread's current allocator or, if the thread has no allocator, the allocator of the
/// process; null if neither is set.
KERNKIT_LOCAL inline detail::HostFunction<TensorAllocator()> env_get_allocator(
    "TVMFFIEnvGetDLPackManagedTensorAllocator");
/// Makes an allocator current for the thread, and also for the whole process if the second argument
/// is not 0, and sets *previous to the allocator that was current before, unless `previous` is
/// null. Returns 0 or -1.
KERNKIT_LOCAL inline detail::HostFunction<
    int(TensorAllocator allocator, int write_to_global_context, TensorAllocator* previous)>
    env_set_allocator("TVMFFIEnvSetDLPackManagedTensorAllocator");

}  // namespace kernkit::host_api

#if !defined(KERNKIT_COMPILED)
#include "kernkit/host_api/impl/host_api.h"
#endif
