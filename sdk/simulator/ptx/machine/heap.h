// SPDX-License-Identifier: Apache-2.0
// Heap: what malloc() of kernels gives. It stays from one launch to the next.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ptx/machine/range.h"

namespace kernkit::simulator::ptx {

class Heap {
 public:
  static constexpr uint64_t kDefaultBytes = 8 << 20;  // cudaLimitMallocHeapSize

  /// An address, a multiple of 16; 0 when less than that is left.
  uint64_t allocate(uint64_t bytes, unsigned char poison);
  /// False for what malloc() did not return, or was given back.
  bool release(uint64_t address);
  /// The allocation around an address; an empty range where there is none.
  Range range_of(uint64_t address) const;
  /// A description of an inaccessible address; "" if it is far from every allocation.
  std::string place_of(uint64_t address) const;
  void set_limit(uint64_t bytes);
  uint64_t limit() const;

 private:
  struct Piece {
    std::unique_ptr<unsigned char[]> memory;
    uint64_t bytes;
    bool freed = false;
  };
  std::map<uint64_t, Piece>::const_iterator around(uint64_t address) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, Piece> pieces_;
  std::deque<uint64_t> freed_;  // the first freed first: kept, so that a use of them is seen
  uint64_t used_ = 0, kept_ = 0, limit_ = kDefaultBytes;
};

}  // namespace kernkit::simulator::ptx
