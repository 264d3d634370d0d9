// SPDX-License-Identifier: Apache-2.0
#include "tools/traffic.h"

#include <algorithm>

namespace kernkit::simulator::ptx {
namespace {

constexpr uint64_t kSector = 32;  // size of a sector [bytes]
constexpr int kBanks = 32;

uint32_t divided(uint64_t count, uint64_t by) {
  return static_cast<uint32_t>((count + by - 1) / by);
}

// The 4-byte words that a request to shared memory accesses. A wavefront transfers at most one word
// from each bank.
class Banks {
 public:
  Banks() { std::fill(std::begin(first_), std::end(first_), -1); }
  void add(uint64_t word) {
    const auto bank = static_cast<size_t>(word % kBanks);
    for (int i = first_[bank]; i >= 0; i = next_[i]) {
      if (words_[i] == word) return;
    }
    words_[count_] = word;
    next_[count_] = first_[bank];
    first_[bank] = count_++;
    most_ = std::max(most_, ++in_bank_[bank]);
  }
  uint32_t most() const { return most_; }
  uint32_t fewest() const { return divided(static_cast<uint64_t>(count_), kBanks); }

 private:
  static constexpr int kMost = 64;  // maximum number of words of a request, two per lane
  uint64_t words_[kMost];
  int next_[kMost], first_[kBanks], count_ = 0;
  uint32_t in_bank_[kBanks] = {}, most_ = 0;
};

}  // namespace

Cost sectors_of(const Touched& touched, uint32_t bytes) {
  uint64_t sectors[32];
  uint32_t masks[32];  // mask of the requested bytes in each sector
  uint32_t count = 0, last = 0, all = 0;
  uint64_t first = UINT64_MAX;
  const uint32_t mask = bytes >= kSector ? UINT32_MAX : (1u << bytes) - 1;
  for (uint32_t remaining = touched.lanes; remaining != 0; remaining &= remaining - 1) {
    const uint64_t at = touched.at[__builtin_ctz(remaining)];
    const uint64_t sector = at / kSector;
    first = std::min(first, at);
    if (count == 0 || sectors[last] != sector) {
      for (last = 0; last < count && sectors[last] != sector; ++last) {
      }
      if (last == count) {
        sectors[count] = sector;
        masks[count++] = 0;
      }
    }
    masks[last] |= mask << at % kSector;
  }
  for (uint32_t i = 0; i < count; ++i) all += static_cast<uint32_t>(__builtin_popcount(masks[i]));
  return {count, divided(first % kSector + all, kSector)};
}

Cost wavefronts_of(const Touched& touched, uint32_t bytes) {
  const int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  Cost cost{0, 0};
  for (int begin = 0; begin < 32; begin += lanes) {
    Banks banks;
    for (int lane = begin; lane < begin + lanes; ++lane) {
      if ((touched.lanes & kLane[lane]) == 0) continue;
      const uint64_t at = touched.at[lane];
      for (uint64_t word = at / 4; word <= (at + std::min(bytes, 16u) - 1) / 4; ++word)
        banks.add(word);
    }
    cost.moved += banks.most();
    cost.fewest += banks.fewest();
  }
  return cost;
}

SectorSet::Page& SectorSet::page(uint64_t number) {
  if (number != last_number_) {
    last_ = &pages_[number];  // an unordered_map keeps the addresses of its values
    last_number_ = number;
  }
  return *last_;
}

void SectorSet::add(const Touched& touched) {
  for (uint32_t remaining = touched.lanes; remaining != 0; remaining &= remaining - 1) {
    const uint64_t sector = touched.at[__builtin_ctz(remaining)] / kSector;
    page(sector / 64 / kWords).bits[sector / 64 % kWords] |= uint64_t{1} << sector % 64;
  }
}

void SectorSet::add(const SectorSet& other) {
  for (const auto& [number, from] : other.pages_) {
    Page& to = page(number);
    for (int i = 0; i < kWords; ++i) to.bits[i] |= from.bits[i];
  }
}

uint64_t SectorSet::size() const {
  uint64_t count = 0;
  for (const auto& [number, page] : pages_) {
    for (const uint64_t bits : page.bits)
      count += static_cast<uint64_t>(__builtin_popcountll(bits));
  }
  return count;
}

}  // namespace kernkit::simulator::ptx
