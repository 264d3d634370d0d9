// SPDX-License-Identifier: Apache-2.0
// The memory traffic of a warp's request.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tools/accesses.h"

namespace kernkit::simulator::ptx {

struct Cost {
  uint32_t moved, fewest;
};

/// Returns the sectors of 32 bytes of global memory for lanes that access `bytes` bytes each.
Cost sectors_of(const Touched& touched, uint32_t bytes);
/// Returns the wavefronts of shared memory. Accesses of 8 bytes are split into halves of a warp,
/// larger accesses into quarters.
Cost wavefronts_of(const Touched& touched, uint32_t bytes);

/// A set of sectors.
class SectorSet {
 public:
  SectorSet() = default;
  SectorSet(const SectorSet& other) : pages_(other.pages_) {}
  SectorSet& operator=(const SectorSet&) = delete;
  void add(const Touched& touched);
  void add(const SectorSet& other);
  uint64_t size() const;

 private:
  static constexpr int kWords = 64;
  struct Page {
    uint64_t bits[kWords] = {};
  };
  Page& page(uint64_t number);

  std::unordered_map<uint64_t, Page> pages_;
  uint64_t last_number_ = UINT64_MAX;
  Page* last_ = nullptr;
};

}  // namespace kernkit::simulator::ptx
