// SPDX-License-Identifier: Apache-2.0
// String: an owned text. A parameter of this type is a copy.
#pragma once

#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
/// An owned text, tvm-ffi's String as a std::string. A parameter of this type is a copy of the
/// caller's text.
class String : public std::string {
 public:
  using std::string::string;
  /// An empty text.
  String() = default;
  /// Deleted, because a null pointer is not a text.
  String(std::nullptr_t) = delete;
  /// Takes over a std::string.
  String(std::string text) : std::string(std::move(text)) {}  // NOLINT(runtime/explicit)
};
KERNKIT_TVM_FFI_END
