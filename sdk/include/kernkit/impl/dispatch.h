// SPDX-License-Identifier: Apache-2.0
// The error of dispatch() for a dtype that is not in the list.
#pragma once

#include "kernkit/dispatch.h"

namespace kernkit::detail {

/// Appends the values as "a", "a or b" or "a, b or c".
template <class T>
void append_alternatives(Message& out, const T* values, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    out << (i == 0 ? "" : i + 1 == size ? " or " : ", ") << values[i];
  }
}

KERNKIT_COLD void throw_unsupported(const char* name, uint32_t dtype_key,
                                    const DLDataType* supported, size_t size,
                                    SourceLocation location) {
  Message& text = *new Message << name << ": dtype " << __builtin_bit_cast(DLDataType, dtype_key)
                               << " is not supported; expected ";
  append_alternatives(text, supported, size);
  throw Error(kind::TypeError, &text, location);
}

KERNKIT_COLD void throw_not_dispatched(uint32_t dtype_key, const DLDataType* supported, size_t size,
                                       SourceLocation location) {
  const char* slash = strrchr(location.file, '/');
  Message& text = *new Message << "dispatch() at " << (slash != nullptr ? slash + 1 : location.file)
                               << ":" << location.line << ": dtype "
                               << __builtin_bit_cast(DLDataType, dtype_key)
                               << " is not in its list; expected ";
  append_alternatives(text, supported, size);
  text << " (dispatch() must list every dtype that KERNKIT_EXPECT accepts)";
  throw Error(kind::TypeError, &text, location);
}

}  // namespace kernkit::detail
