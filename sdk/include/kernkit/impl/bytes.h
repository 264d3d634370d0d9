// SPDX-License-Identifier: Apache-2.0
// Reading bytes, and having the host make them.
#pragma once

#include "kernkit/bytes.h"

namespace kernkit::detail {

KERNKIT_COLD bool read_bytes(const KernkitAny& any, KernkitByteArray* out) {
  if (any.type_index == kKernkitSmallBytes) {  // in place: not in a copy
    *out = {any.v.small, any.small_size};
    return is_sound(any);
  }
  const KernkitAny bytes = referent(any);
  if (!is_sound(bytes)) return false;
  switch (bytes.type_index) {
    case kKernkitBytes: *out = *cell_of<KernkitByteArray>(bytes); return true;
    case kKernkitByteArrayPtr: *out = *static_cast<KernkitByteArray*>(bytes.v.ptr); return true;
    default: return false;
  }
}

KERNKIT_COLD void set_bytes(KernkitAny* result, const unsigned char* data, size_t size) {
  set_text(result, host_api::bytes_from_byte_array, "bytes", reinterpret_cast<const char*>(data),
           size);
}

}  // namespace kernkit::detail
