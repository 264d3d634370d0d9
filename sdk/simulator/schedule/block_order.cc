// SPDX-License-Identifier: Apache-2.0
#include "schedule/block_order.h"

#include <numeric>

namespace kernkit::simulator {
namespace {

constexpr uint64_t kParts = 8;

}  // namespace

BlockOrder::BlockOrder(uint64_t count, uint64_t sample)
    : count_(count),
      group_(sample < count ? sample / (kParts + 1) : 0),
      runs_(group_ != 0 ? (kParts + 1) * group_ : count) {}

void BlockOrder::mix(uint64_t first, uint64_t stride) {
  first_ = first % runs_;
  stride_ = stride % runs_ | 1;
  while (std::gcd(stride_, runs_) != 1) ++stride_;
}

uint64_t BlockOrder::take() {
  __extension__ using Wide = unsigned __int128;
  const auto k = static_cast<uint64_t>((static_cast<Wide>(taken_++) * stride_ + first_) % runs_);
  if (group_ == 0) return k;
  const uint64_t part = k / group_;
  const uint64_t middle = count_ / kParts * part + count_ % kParts * part / kParts;
  const uint64_t first = part == kParts        ? count_ - group_
                         : middle < group_ / 2 ? 0
                                               : middle - group_ / 2;
  return first + k % group_;
}

}  // namespace kernkit::simulator
