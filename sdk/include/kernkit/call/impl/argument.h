// SPDX-License-Identifier: Apache-2.0
// Errors for arguments of the wrong type or size.
#pragma once

#include "kernkit/call/argument.h"
#include "kernkit/schema/round_to_double.h"

namespace kernkit::detail {

KERNKIT_COLD void throw_argument_type(const char* name, const char* expected,
                                      const KernkitAny& any) {
  throw Error(kind::TypeError,
              &(*new Message << name << ": expected " << expected << ", got " << any));
}

// The cell of a BigInt (the object's data, after its header) contains the number of 64-bit words,
// and then the words of the integer in two's complement, least significant word first. A canonical
// integer has no redundant word.
KERNKIT_COLD double read_big_int(const KernkitAny& any, const char* name) {
  if (!is_sound(any)) throw_argument_type(name, "float", any);
  const auto* cell = cell_of<uint64_t>(any);
  const uint64_t size = cell[0];
  const bool is_negative = size > 0 && static_cast<int64_t>(cell[size]) < 0;
  constexpr uint64_t kMostWords = 17;  // the largest double has 1024 bits
  double value = __builtin_inf();
  if (size <= kMostWords) {
    Uint128 top = 0;  // the two most significant words of the magnitude
    bool more = false;
    bool carry = is_negative;
    for (uint64_t i = 1; i <= size; ++i) {
      const uint64_t word = (is_negative ? ~cell[i] : cell[i]) + carry;
      carry = carry && word == 0;
      more |= static_cast<uint64_t>(top) != 0;
      top = top >> 64 | Uint128{word} << 64;
    }
    value = round_to_double(top, more, 64 * (static_cast<int>(size) - 2));
  }
  KERNKIT_CHECK(value < __builtin_inf(), ValueError)
      << name << ": expected float, got " << any << ", which is too large for one";
  return is_negative ? -value : value;
}

KERNKIT_COLD void throw_out_of_range(const char* name, const KernkitAny& any, int64_t min,
                                     uint64_t max) {
  Message& text = *new Message << name << ": " << any << " is out of range [" << min << ", " << max
                               << "]";
  throw Error(kind::ValueError, &text);
}

}  // namespace kernkit::detail
