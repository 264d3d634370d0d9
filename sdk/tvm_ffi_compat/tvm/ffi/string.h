// SPDX-License-Identifier: Apache-2.0
// String: an owned text. A parameter of this type is a copy.
#pragma once

#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
class String : public std::string {
 public:
  using std::string::string;
  String() = default;
  String(std::nullptr_t) = delete;
  String(std::string text) : std::string(std::move(text)) {}  // NOLINT(runtime/explicit)
};
KERNKIT_TVM_FFI_END
