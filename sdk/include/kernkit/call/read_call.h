// SPDX-License-Identifier: Apache-2.0
// A call of a function without a schema line: names of its arguments, and the call itself.
#pragma once

#include "kernkit/base/fixed_text.h"
#include "kernkit/call/argument.h"
#include "kernkit/call/result.h"

namespace kernkit::detail {

/// "argument 1" for i = 0.
constexpr FixedText<16> argument_name(size_t i) {
  FixedText<16> name{};
  append(append(name.text, "argument "), static_cast<uint32_t>(i + 1));
  return name;
}

template <size_t I>
inline constexpr FixedText<16> kArgumentName = argument_name(I);

/// The constructor calls a function with arguments that have been read, and stores its result.
/// Construct the object with braces, so that the arguments are read from left to right.
template <class R, class... Params>
struct ReadCall {
  template <class F, class... Storage>
  [[gnu::always_inline]] ReadCall(F&& function, KernkitAny* result, const Storage&... stored) {
    if constexpr (std::is_void_v<R>) {
      function(static_cast<Params>(stored)...);
    } else {
      Result<std::decay_t<R>>::set(result, function(static_cast<Params>(stored)...));
    }
  }
};

}  // namespace kernkit::detail
