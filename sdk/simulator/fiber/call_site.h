// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kernkit::simulator {

/// A position in a kernel: a line, and the return addresses of the active calls.
class CallSite {
 public:
  /// Reads the call site of the caller. `outermost` is the frame of the kernel's caller on this
  /// stack.
  CallSite(int line, const void* outermost);

  bool operator==(const CallSite& other) const { return compare(other) == 0; }
  /// Orders call sites by line and return addresses.
  bool operator<(const CallSite& other) const { return compare(other) < 0; }

 private:
  int compare(const CallSite& other) const;
  void add(uint64_t address);

  static constexpr unsigned kMost = 16;  // most return addresses; the last hashes further addresses
  int line_;
  uint64_t calls_[kMost];  // return addresses, innermost first
  unsigned depth_ = 0;
};

}  // namespace kernkit::simulator
