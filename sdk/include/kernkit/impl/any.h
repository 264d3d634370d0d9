// SPDX-License-Identifier: Apache-2.0
// Text of a KernkitAny, and what it is.
#pragma once

#include "kernkit/any.h"

namespace kernkit::detail {

KERNKIT_COLD KernkitAny object_in_slot(const KernkitAny& any) {
  auto* const* slot = static_cast<KernkitObject* const*>(any.v.ptr);
  KernkitAny object = any;
  if (slot != nullptr && *slot != nullptr) {
    object.type_index = (*slot)->type_index;
    object.v.object = *slot;
  }
  return object;
}

KERNKIT_COLD KernkitObject* take_object(const KernkitAny& any, int32_t type_index) {
  if (any.type_index != kKernkitObjectRValueRef) return nullptr;
  const KernkitAny object = object_in_slot(any);
  if (object.type_index != type_index) return nullptr;
  *static_cast<KernkitObject**>(any.v.ptr) = nullptr;
  return object.v.object;
}

KERNKIT_COLD bool read_text(const KernkitAny& any, KernkitByteArray* out) {
  switch (any.type_index) {
    case kKernkitSmallStr: *out = {any.v.small, any.small_size}; return true;
    case kKernkitStr: *out = *cell_of<KernkitByteArray>(any); return true;
    case kKernkitRawStr: *out = {any.v.c_str, strlen(any.v.c_str)}; return true;
    case kKernkitObjectRValueRef: {
      const KernkitAny object = object_in_slot(any);
      if (object.type_index == kKernkitStr) *out = *cell_of<KernkitByteArray>(object);
      return object.type_index == kKernkitStr;
    }
    default: return false;
  }
}

KERNKIT_COLD Message& operator<<(Message& out, const KernkitAny& any) {
  if (any.type_index == kKernkitObjectRValueRef) {
    const KernkitAny object = object_in_slot(any);
    if (object.type_index != any.type_index) return out << object << " (to be moved)";
    return out << "an object that was moved away before";
  }
  KernkitByteArray text;
  if (read_text(any, &text)) {
    (out << "str \"").append(text.data, text.size < 40 ? text.size : 40);
    return out << (text.size < 40 ? "\"" : "...\"");
  }
  switch (any.type_index) {
    case kKernkitNone: return out << "None";
    case kKernkitInt: return out << "int " << any.v.i64;
    case kKernkitBool: return out << "bool " << (any.v.i64 != 0);
    case kKernkitFloat: return out << "float " << any.v.f64;
    case kKernkitOpaquePtr: return out << "a raw pointer";
    case kKernkitDataType: return out << "dtype " << any.v.dtype;
    case kKernkitDevice: return out << "device " << any.v.device;
    case kKernkitDLTensorPtr:
      return out << (any.v.ptr == nullptr ? "a null DLTensor*" : "DLTensor*");
    case kKernkitByteArrayPtr:
    case kKernkitSmallBytes:
    case kKernkitBytes: return out << "bytes";
    case kKernkitFunction: return out << "a function";
    case kKernkitShape: return out << "Shape";
    case kKernkitTensor: return out << "Tensor";
    case kKernkitArray:
    case kKernkitList: return out << "a list of " << cell_of<KernkitSeqCell>(any)->size;
    case kKernkitMap:
    case kKernkitDict: return out << "a dict";
    case kKernkitOpaquePyObject: return out << "a Python object that is no tensor";
    case kKernkitBigInt: return out << "an int beyond 64 bits";
    default: return out << "an object of type index " << any.type_index;
  }
}

}  // namespace kernkit::detail
