// SPDX-License-Identifier: Apache-2.0
// Ranges of a large tensor that a test fills and checks.
#pragma once

#include <cstdint>
#include <vector>

namespace kernkit::gpu {

/// Elements [first, end).
struct Range {
  int64_t first, end;
};

/// Returns the ranges of n elements to check: the whole range if all elements are computed.
/// Programs whose runtime skips blocks of a large grid link another definition of this function.
std::vector<Range> checked_ranges(int64_t n);

}  // namespace kernkit::gpu
