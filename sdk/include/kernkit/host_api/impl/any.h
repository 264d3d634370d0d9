// SPDX-License-Identifier: Apache-2.0
// Text and bytes of a KernkitAny, and its description.
#pragma once

#include "kernkit/host_api/any.h"

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
  if (object.type_index != type_index || !is_sound(object)) return nullptr;
  *static_cast<KernkitObject**>(any.v.ptr) = nullptr;
  return object.v.object;
}

KERNKIT_COLD bool is_sound(const KernkitAny& any) {
  const bool is_pointer =
      any.type_index == kKernkitDLTensorPtr || any.type_index == kKernkitRawStr ||
      any.type_index == kKernkitByteArrayPtr || any.type_index >= kKernkitObject;
  if (is_pointer && any.v.ptr == nullptr) return false;
  const auto has = [](const void* data, uint64_t size) { return data != nullptr || size == 0; };
  switch (any.type_index) {
    case kKernkitSmallStr:
    case kKernkitSmallBytes: return any.small_size < sizeof(any.v.small);
    case kKernkitByteArrayPtr: {
      const auto* bytes = static_cast<const KernkitByteArray*>(any.v.ptr);
      return has(bytes->data, bytes->size);
    }
    case kKernkitStr:
    case kKernkitBytes: {
      const auto* cell = cell_of<KernkitByteArray>(any);
      return has(cell->data, cell->size);
    }
    case kKernkitShape: {
      const auto* cell = cell_of<KernkitShapeCell>(any);
      return has(cell->data, cell->size);
    }
    case kKernkitArray:
    case kKernkitList: {
      const auto* cell = cell_of<KernkitSeqCell>(any);
      return cell->size >= 0 && has(cell->data, static_cast<uint64_t>(cell->size));
    }
    case kKernkitFunction: return cell_of<KernkitFunctionCell>(any)->call != nullptr;
    default: return true;
  }
}

/// Sets *out to the characters of a str, or to the bytes of a bytes value, which are stored within
/// the KernkitAny (type index kSmall), in an object (kObject), or at a pointer (kPointer). Returns
/// false for another type and for a malformed value.
template <int32_t kSmall, int32_t kObject, int32_t kPointer>
inline bool read_stored(const KernkitAny& any, KernkitByteArray* out) {
  if (any.type_index == kSmall) {  // the characters are inside `any`; *out points to them
    *out = {any.v.small, any.small_size};
    return is_sound(any);
  }
  const KernkitAny target = referent(any);
  if (!is_sound(target)) return false;
  if (target.type_index == kObject) {
    *out = *cell_of<KernkitByteArray>(target);
  } else if (target.type_index != kPointer) {
    return false;
  } else if (kPointer == kKernkitRawStr) {
    *out = {target.v.c_str, strlen(target.v.c_str)};
  } else {
    *out = *static_cast<KernkitByteArray*>(target.v.ptr);
  }
  return true;
}

KERNKIT_COLD bool read_text(const KernkitAny& any, KernkitByteArray* out) {
  return read_stored<kKernkitSmallStr, kKernkitStr, kKernkitRawStr>(any, out);
}

/// Returns the name of a type, for the type indices that is_sound() checks.
KERNKIT_COLD const char* name_of_type(int32_t type_index) {
  switch (type_index) {
    case kKernkitDLTensorPtr: return "DLTensor*";
    case kKernkitRawStr:
    case kKernkitSmallStr:
    case kKernkitStr: return "str";
    case kKernkitByteArrayPtr:
    case kKernkitSmallBytes:
    case kKernkitBytes: return "bytes";
    case kKernkitFunction: return "function";
    case kKernkitShape: return "Shape";
    case kKernkitTensor: return "Tensor";
    case kKernkitArray:
    case kKernkitList: return "list";
    case kKernkitMap:
    case kKernkitDict: return "dict";
    case kKernkitBigInt: return "int";
    default: return "object";
  }
}

KERNKIT_COLD Message& operator<<(Message& out, const KernkitAny& any) {
  if (any.type_index == kKernkitObjectRValueRef) {
    const KernkitAny object = object_in_slot(any);
    if (object.type_index != any.type_index) return out << object << " (to be moved)";
    return out << "an object that was moved away before";
  }
  if (!is_sound(any)) {
    const bool is_small =
        any.type_index == kKernkitSmallStr || any.type_index == kKernkitSmallBytes;
    const bool is_null = !is_small && any.v.ptr == nullptr;
    return out << (is_null ? "a null " : "a malformed ") << name_of_type(any.type_index);
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
    case kKernkitDLTensorPtr: return out << "DLTensor*";
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
    case kKernkitOpaquePyObject: return out << "a Python object that is not a tensor";
    case kKernkitBigInt: return out << "an int beyond 64 bits";
    default: return out << "an object of type index " << any.type_index;
  }
}

}  // namespace kernkit::detail
