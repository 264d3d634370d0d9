// SPDX-License-Identifier: Apache-2.0
// The mode of a decoded setp or set: the comparison, a bit for unordered comparisons, and the
// logical operation with a predicate.
#pragma once

#include <cstdint>

namespace kernkit::simulator::ptx {

enum Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

inline constexpr uint8_t kComparison = 7;  // mask of the bits that contain a Comparison
inline constexpr uint8_t kUnordered = 8;   // set if a NaN satisfies the comparison
inline constexpr int kCombined = 4;  // lowest bit of the logical operation: none, and, or, xor

}  // namespace kernkit::simulator::ptx
