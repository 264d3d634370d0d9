// SPDX-License-Identifier: Apache-2.0
// The mode of a decoded setp or set: the comparison, whether the comparison also holds for a NaN,
// and how the result is combined with a predicate.
#pragma once

#include <cstdint>

namespace kernkit::simulator::ptx {

enum Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

inline constexpr uint8_t kComparison = 7;  // the bits of the comparison
inline constexpr uint8_t kUnordered = 8;   // the bit that is set if a NaN satisfies it
inline constexpr int kCombined = 4;        // the first bit of: not combined, and, or, xor

}  // namespace kernkit::simulator::ptx
