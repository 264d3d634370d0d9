// SPDX-License-Identifier: Apache-2.0
#include "tools/race_cells.h"

#include <utility>

namespace kernkit::simulator::ptx {

void RaceCells::split(unsigned shift) {
  const size_t parts = size_t{1} << (shift_ - shift);
  std::vector<RaceCell> smaller(cells_.size() * parts);
  for (size_t i = 0; i < smaller.size(); ++i) smaller[i] = cells_[i / parts];
  cells_ = std::move(smaller);
  shift_ = shift;
}

}  // namespace kernkit::simulator::ptx
