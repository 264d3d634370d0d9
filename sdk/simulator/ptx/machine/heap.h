// SPDX-License-Identifier: Apache-2.0
// Heap: the memory of malloc() in kernels. Its allocations persist between launches.
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
  static constexpr uint64_t kDefaultBytes = 8 << 20;  // default of cudaLimitMallocHeapSize [bytes]

  /// Allocates memory filled with `poison`. Returns the address of the memory, a multiple of 16; 0
  /// if fewer bytes are left.
  uint64_t allocate(uint64_t bytes, unsigned char poison);
  /// Frees memory. Returns false if malloc() did not return the address, or if the memory is
  /// already free.
  bool release(uint64_t address);
  /// Returns the range of the live allocation that contains an address, or an empty range.
  Range range_of(uint64_t address) const;
  /// Describes an inaccessible address by an allocation close to it; returns "" far from every
  /// allocation.
  std::string location_of(uint64_t address) const;
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
  std::deque<uint64_t> freed_;  // addresses of kept freed memory, oldest first
  uint64_t used_ = 0, kept_bytes_ = 0, limit_ = kDefaultBytes;
};

}  // namespace kernkit::simulator::ptx
