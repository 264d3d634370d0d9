// SPDX-License-Identifier: Apache-2.0
// FixedText: a short text by value, made at compile time or run time.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace kernkit {

/// Text of at most N - 1 characters, returned by value, so that functions that make names allocate
/// no memory.
template <size_t N>
struct FixedText {
  char text[N];  ///< the characters, with a terminating NUL
  /// The text with a terminating NUL, valid as long as this object. Throws nothing.
  constexpr const char* c_str() const { return text; }
};

namespace detail {

// Copies `text` to `out`, without a NUL, and returns the end of the copy. `out` must have enough
// space.
[[gnu::cold]] constexpr char* append(char* out, const char* text) {
  while (*text != '\0') *out++ = *text++;
  return out;
}
[[gnu::cold]] constexpr char* append(char* out, uint32_t number) {
  if (number >= 10) out = append(out, number / 10);
  *out = static_cast<char>('0' + number % 10);
  return out + 1;
}

}  // namespace detail
}  // namespace kernkit
