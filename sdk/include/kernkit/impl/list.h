// SPDX-License-Identifier: Apache-2.0
// Errors about elements of a list.
#pragma once

#include "kernkit/list.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_for_element(const Error& error, const char* name, size_t i) {
  Message text;
  text << name << "[" << i << "]" << error.message() + strlen(name);
  throw Error(error.kind(), text.c_str(), error.location());
}

}  // namespace kernkit::detail
