// SPDX-License-Identifier: Apache-2.0
// The simulator runs only nine groups of 16 blocks of a large grid: at the start, at the end and
// around each eighth.
#include "../gpu/checked_ranges.h"

#include <algorithm>

namespace kernkit::gpu {

std::vector<Range> checked_ranges(int64_t n) {
  constexpr int64_t kNear = 8192;  // elements checked on each side of `middle`; at most four blocks
  std::vector<Range> all;
  for (int64_t part = 0; part <= 8; ++part) {
    const int64_t middle = n / 8 * part + n % 8 * part / 8;
    all.push_back({std::max(middle - kNear, int64_t{0}), std::min(middle + kNear, n)});
  }
  return all;
}

}  // namespace kernkit::gpu
