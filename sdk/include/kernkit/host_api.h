// SPDX-License-Identifier: Apache-2.0
// The C functions of the host (the process that calls this library), found when they are needed.
//
// A kernel library links no host. It may be loaded before the host is, and the host may have been
// loaded RTLD_LOCAL, so a link-time or weak reference would be null just when it matters.
#pragma once

#include "kernkit/abi.h"
#include "kernkit/cold.h"

// The host's loader writes the library's module handle here. Defined by export.h.
extern "C" __attribute__((weak, visibility("default"))) void* __tvm_ffi__library_ctx;

namespace kernkit::detail {

[[gnu::cold]] void* find_host_function(const char* name);

/// One function of the host. get() finds it; what was found is kept, "not found" is not, since
/// the host may be loaded later. Safe from several threads.
template <class Function>
class HostFunction {
 public:
  constexpr explicit HostFunction(const char* name) : name_(name) {}

  /// The function, or null when no host is in the process.
  Function* get() {
    void* found = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    if (__builtin_expect(found == nullptr, 0)) {
      found = find_host_function(name_);
      __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
    }
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* name_;
  void* found_ = nullptr;
};

}  // namespace kernkit::detail

namespace kernkit::host_api {

// Signatures: tvm/ffi/c_api.h and tvm/ffi/extra/c_env_api.h, release 0.1.
inline detail::HostFunction<int(const KernkitByteArray* kind, const KernkitByteArray* message,
                                const KernkitByteArray* backtrace, void** out)>
    error_create("TVMFFIErrorCreate");
inline detail::HostFunction<void(void* error)> error_set_raised("TVMFFIErrorSetRaised");
inline detail::HostFunction<int(void* object)> object_dec_ref("TVMFFIObjectDecRef");
inline detail::HostFunction<int(const KernkitByteArray* text, KernkitAny* out)>
    string_from_byte_array("TVMFFIStringFromByteArray");
inline detail::HostFunction<int(const KernkitByteArray* name, void** out)> function_get_global(
    "TVMFFIFunctionGetGlobal");
inline detail::HostFunction<int(void* function, const KernkitAny* args, int32_t num_args,
                                KernkitAny* result)>
    function_call("TVMFFIFunctionCall");
inline detail::HostFunction<void*(int32_t device_type, int32_t device_id)> env_get_stream(
    "TVMFFIEnvGetStream");
inline detail::HostFunction<void(void** out)> error_move_from_raised("TVMFFIErrorMoveFromRaised");
inline detail::HostFunction<int(DLManagedTensor* from, int32_t require_alignment,
                                int32_t require_contiguous, void** out)>
    tensor_from_dlpack("TVMFFITensorFromDLPack");
inline detail::HostFunction<int(DLManagedTensorVersioned* from, int32_t require_alignment,
                                int32_t require_contiguous, void** out)>
    tensor_from_dlpack_versioned("TVMFFITensorFromDLPackVersioned");
inline detail::HostFunction<int(void* tensor, DLManagedTensor** out)> tensor_to_dlpack(
    "TVMFFITensorToDLPack");
inline detail::HostFunction<int(void* tensor, DLManagedTensorVersioned** out)>
    tensor_to_dlpack_versioned("TVMFFITensorToDLPackVersioned");
inline detail::HostFunction<int(DLTensor* prototype, void** out)> env_tensor_alloc(
    "TVMFFIEnvTensorAlloc");
// Returns a DLPackManagedTensorAllocator, whose name dlpack.h has from 1.2 on.
inline detail::HostFunction<void*()> env_get_allocator("TVMFFIEnvGetDLPackManagedTensorAllocator");

}  // namespace kernkit::host_api

#if !defined(KERNKIT_COMPILED)
#include "kernkit/impl/host_api.h"
#endif
