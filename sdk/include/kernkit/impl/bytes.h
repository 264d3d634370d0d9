// SPDX-License-Identifier: Apache-2.0
// Reading bytes, and having the host make them.
#pragma once

#include "kernkit/bytes.h"

namespace kernkit::detail {

KERNKIT_COLD bool read_bytes(const KernkitAny& any, KernkitByteArray* out) {
  switch (any.type_index) {
    case kKernkitSmallBytes: *out = {any.v.small, any.small_size}; return true;
    case kKernkitBytes: *out = *cell_of<KernkitByteArray>(any); return true;
    case kKernkitByteArrayPtr: *out = *static_cast<KernkitByteArray*>(any.v.ptr); return true;
    case kKernkitObjectRValueRef: {
      const KernkitAny object = object_in_slot(any);
      if (object.type_index == kKernkitBytes) *out = *cell_of<KernkitByteArray>(object);
      return object.type_index == kKernkitBytes;
    }
    default: return false;
  }
}

KERNKIT_COLD void set_bytes(KernkitAny* result, const unsigned char* data, size_t size) {
  set_text(result, host_api::bytes_from_byte_array, "bytes", reinterpret_cast<const char*>(data),
           size);
}

}  // namespace kernkit::detail
