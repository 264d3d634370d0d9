// SPDX-License-Identifier: Apache-2.0
// dtype_at(): the dtype that a word of a schema line names.
#pragma once

#include "kernkit/schema/dtype_names.h"
#include "kernkit/types/dtype.h"

namespace kernkit::shapes {

/// Returns the dtype named by the `size` characters at text[begin], or {} if the characters are not
/// the name of a dtype. Throws nothing.
constexpr DLDataType dtype_at(const char* text, int begin, int size) {
  DLDataType dtype{};
  return parse_dtype(text + begin, static_cast<size_t>(size), &dtype) ? dtype : DLDataType{};
}

}  // namespace kernkit::shapes
