// SPDX-License-Identifier: Apache-2.0
// On the CPU 16 blocks run at the start of a large grid, at its end and around every eighth.
#include "../gpu/parts.h"

#include <algorithm>

namespace kernkit::gpu {

std::vector<Part> parts(int64_t n) {
  constexpr int64_t kNear = 8192;  // elements: at most four blocks
  std::vector<Part> all;
  for (int64_t part = 0; part <= 8; ++part) {
    const int64_t middle = n / 8 * part + n % 8 * part / 8;
    all.push_back({std::max(middle - kNear, int64_t{0}), std::min(middle + kNear, n)});
  }
  return all;
}

}  // namespace kernkit::gpu
