// SPDX-License-Identifier: Apache-2.0
// Views of texts.
#pragma once

#include "kernkit/any_view.h"

namespace kernkit::detail {

KERNKIT_COLD KernkitAny view_text(const char* data, size_t size) {
  KernkitAny any{};
  if (size < sizeof(any.v.small)) {
    any.type_index = kKernkitSmallStr;
    any.small_size = static_cast<uint32_t>(size);
    if (size != 0) memcpy(any.v.small, data, size);
    return any;
  }
  KERNKIT_CHECK(memchr(data, '\0', size) == nullptr, ValueError)
      << "AnyView does not support a NUL byte in a string of 8 bytes or more; construct an Any "
         "from the string";
  any.type_index = kKernkitRawStr;
  any.v.c_str = data;
  return any;
}

}  // namespace kernkit::detail
