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

/// For n elements: the whole range if all elements are computed. For a runtime that skips blocks of
/// a large grid there is another definition.
std::vector<Range> checked_ranges(int64_t n);

}  // namespace kernkit::gpu
