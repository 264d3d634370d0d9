// SPDX-License-Identifier: Apache-2.0
// String: a text, owned; as a parameter a copy.
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
