// SPDX-License-Identifier: Apache-2.0
// Reading of bytes, and creation of bytes by the host.
#pragma once

#include "kernkit/bytes.h"
#include "kernkit/host_api/impl/any.h"

namespace kernkit::detail {

KERNKIT_COLD bool read_bytes(const KernkitAny& any, KernkitByteArray* out) {
  return read_stored<kKernkitSmallBytes, kKernkitBytes, kKernkitByteArrayPtr>(any, out);
}

KERNKIT_COLD void set_bytes(KernkitAny* result, const unsigned char* data, size_t size) {
  set_text(result, host_api::bytes_from_byte_array, "bytes", reinterpret_cast<const char*>(data),
           size);
}

}  // namespace kernkit::detail
