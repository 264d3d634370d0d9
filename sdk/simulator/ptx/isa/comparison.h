// SPDX-License-Identifier: Apache-2.0
// The mode of a decoded setp or set: the comparison, a bit for unordered comparisons, and the
// logical operation with a predicate.
#pragma once

#include <cstdint>

namespace kernkit::simulator::ptx {

enum Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

inline constexpr uint8_t kComparison = 7;  // mask of the bits that contain a Comparison
inline constexpr uint8_t kUnordered = 8;   // set if a NaN satisfies the comparison
inline constexpr int kCombined = 4;  // position of the logic operation: 0 none, 1 and, 2 or, 3 xor

}  // namespace kernkit::simulator::ptx
