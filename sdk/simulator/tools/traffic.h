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

/// Returns the number of 32-byte sectors of global memory that the lanes access, `bytes` bytes
/// each, and the fewest sectors that could hold as many bytes.
Cost sectors_of(const Touched& touched, uint32_t bytes);
/// Returns the number of wavefronts in shared memory, and the number without bank conflicts. A
/// warp's accesses of 8 bytes are split into two requests, larger accesses into four.
Cost wavefronts_of(const Touched& touched, uint32_t bytes);

/// A set of sectors of global memory.
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
