// SPDX-License-Identifier: Apache-2.0
// The choice of an index width, and the error for a value that is not in the list.
#pragma once

#include "kernkit/dispatch_value.h"
#include "kernkit/impl/dispatch.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_unsupported_value(const char* name, int64_t value, const int64_t* supported,
                                          size_t size, SourceLocation location) {
  Message& text = *new Message << name << ": " << value << " is not supported; expected ";
  append_alternatives(text, supported, size);
  throw Error(kind::ValueError, &text, location);
}

KERNKIT_COLD bool fits_int32(std::initializer_list<TensorView> views) {
  for (const TensorView& x : views) {
    for (const int64_t size : x.sizes()) {
      if (size > INT32_MAX) return false;
    }
    const int64_t numel = x.numel();
    if (numel == 0) continue;
    if (numel > INT32_MAX) return false;
    int64_t low, high;
    if (!offset_range(x, &low, &high) || low < INT32_MIN || high > INT32_MAX) return false;
  }
  return true;
}

}  // namespace kernkit::detail
