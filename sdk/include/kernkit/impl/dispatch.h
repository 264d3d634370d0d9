// SPDX-License-Identifier: Apache-2.0
// What dispatch() says when a dtype is not in the list.
#pragma once

#include "kernkit/dispatch.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_unsupported(const char* name, DLDataType dtype, const DLDataType* supported,
                                    size_t size, Where where) {
  Message text;
  text << name << ": dtype " << dtype << " is not supported; expected ";
  for (size_t i = 0; i < size; ++i) {
    text << (i == 0 ? "" : i + 1 == size ? " or " : ", ") << supported[i];
  }
  throw Error(kind::TypeError, text.c_str(), where);
}

}  // namespace kernkit::detail
