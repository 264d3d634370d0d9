// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kernkit::simulator {

/// A position in a kernel: a line, and the return addresses of the active calls.
class CallSite {
 public:
  /// The call site of the caller. `outermost`: the frame of the kernel's caller on this stack.
  CallSite(int line, const void* outermost);

  bool operator==(const CallSite& other) const { return compare(other) == 0; }
  /// Whether this call site is before the other one, by line and return addresses.
  bool operator<(const CallSite& other) const { return compare(other) < 0; }

 private:
  int compare(const CallSite& other) const;
  void add(uint64_t address);

  static constexpr unsigned kMost = 16;  // more are mixed into the last one
  int line_;
  uint64_t calls_[kMost];  // the innermost one first
  unsigned depth_ = 0;
};

}  // namespace kernkit::simulator
