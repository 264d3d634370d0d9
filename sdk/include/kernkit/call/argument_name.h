// SPDX-License-Identifier: Apache-2.0
// What a parameter without a name is called in messages.
#pragma once

#include "kernkit/base/fixed_text.h"

namespace kernkit::detail {

/// "argument 1" for i = 0.
constexpr FixedText<16> argument_name(size_t i) {
  FixedText<16> name{};
  append(append(name.text, "argument "), static_cast<uint32_t>(i + 1));
  return name;
}

/// The names of so many parameters.
template <size_t N>
struct ArgumentNames {
  FixedText<16> at[N + 1] = {};  // none is not an array
  constexpr ArgumentNames() {
    for (size_t i = 0; i < N; ++i) at[i] = argument_name(i);
  }
};

}  // namespace kernkit::detail
