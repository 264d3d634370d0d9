// SPDX-License-Identifier: Apache-2.0
// What is said of an argument of the wrong type or size.
#pragma once

#include "kernkit/argument.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_argument_type(const char* name, const char* expected,
                                      const KernkitAny& any) {
  Message text;
  text << name << ": expected " << expected << ", got " << any;
  throw Error(kind::TypeError, text.c_str());
}

KERNKIT_COLD void throw_out_of_range(const char* name, const KernkitAny& any, int64_t min,
                                     uint64_t max) {
  Message text;
  text << name << ": " << any << " is out of range [" << min << ", " << max << "]";
  throw Error(kind::ValueError, text.c_str());
}

}  // namespace kernkit::detail
