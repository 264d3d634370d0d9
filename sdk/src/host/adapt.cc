// SPDX-License-Identifier: Apache-2.0
// adapt(): copies an object of the runtime to an object of tvm_ffi, for a callee that uses tvm_ffi.
#include "host/functions.h"
#include "host/objects.h"
#include "host/tvm_ffi.h"

namespace kernkit::host {
namespace {

// Calls a function object of this runtime, `self`, a FunctionObject, on behalf of tvm_ffi.
int call_adapted(void* self, const KernkitAny* args, int32_t num_args,
                 KernkitAny* result) noexcept {
  return function_call(self, args, num_args, result);
}

}  // namespace

int adapt(const KernkitAny* any, KernkitAny* out) noexcept {
  if (any->type_index < kKernkitObject || !has_own_type(any->v.object)) return 0;
  if (find_tvm_ffi("TVMFFIErrorCreate") == nullptr) return 0;
  KernkitObject* object = any->v.object;
  *out = {};
  out->type_index = any->type_index;
  void* adapted = nullptr;
  int code = -1;
  switch (any->type_index) {
    case kKernkitTensor: {
      DLManagedTensorVersioned* managed = nullptr;
      code = tensor_to_dlpack_versioned(object, &managed);
      if (code == 0 && tensor_from_dlpack_versioned(managed, 0, 0, &adapted) != 0) {
        managed->deleter(managed);
        code = -1;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the deleter deletes it
      }
      break;
    }
    case kKernkitFunction:
      KernkitObjectIncRef(object);
      code = function_create(
          object, call_adapted,
          [](void* self) { KernkitObjectDecRef(static_cast<KernkitObject*>(self)); }, &adapted);
      break;
    case kKernkitStr:
      return string_from_byte_array(&reinterpret_cast<StrObject*>(object)->cell, out) == 0 ? 1 : -1;
    case kKernkitBytes:
      return bytes_from_byte_array(&reinterpret_cast<BytesObject*>(object)->cell, out) == 0 ? 1
                                                                                            : -1;
    default:
      return fail(
          "TypeError",
          "an array that was made before tvm_ffi was loaded cannot be passed to tvm_ffi; make the "
          "array again");
  }
  out->v.object = static_cast<KernkitObject*>(adapted);
  return code == 0 ? 1 : -1;
}

}  // namespace kernkit::host
