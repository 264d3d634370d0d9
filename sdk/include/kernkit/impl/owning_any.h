// SPDX-License-Identifier: Apache-2.0
// Conversion of a borrowed value to an owned value.
#pragma once

#include "kernkit/bytes.h"
#include "kernkit/owning_any.h"

namespace kernkit::detail {

KERNKIT_COLD KernkitAny own(const KernkitAny& any, const char* name) {
  KernkitAny owned = any;
  if (!is_sound(any)) throw_argument_type(name, "something that can be owned", any);
  switch (any.type_index) {
    case kKernkitRawStr: set_string(&owned, any.v.c_str, strlen(any.v.c_str)); break;
    case kKernkitByteArrayPtr: {
      const auto* bytes = static_cast<const KernkitByteArray*>(any.v.ptr);
      set_bytes(&owned, reinterpret_cast<const unsigned char*>(bytes->data), bytes->size);
      break;
    }
    case kKernkitObjectRValueRef:
      owned = object_in_slot(any);
      if (owned.type_index == any.type_index) {
        throw_argument_type(name, "something that can be owned", any);
      }
      take_object(any, owned.type_index);
      break;
    case kKernkitDLTensorPtr: throw_argument_type(name, "something that can be owned", any);
    default:
      if (any.type_index >= kKernkitObject) KernkitObjectIncRef(any.v.object);
  }
  return owned;
}

}  // namespace kernkit::detail
