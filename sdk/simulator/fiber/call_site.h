// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kernkit::simulator {

/// A position in a kernel: a line, and the return addresses of the active calls.
class CallSite {
 public:
  /// Reads the call site of the caller from the stack. `outermost` is the stack frame of the
  /// kernel's caller.
  CallSite(int line, const void* outermost);

  bool operator==(const CallSite& other) const { return compare(other) == 0; }
  /// Orders call sites by line, then by return addresses, outermost first.
  bool operator<(const CallSite& other) const { return compare(other) < 0; }

 private:
  int compare(const CallSite& other) const;
  void add(uint64_t address);

  // Maximum number of stored return addresses. For a deeper stack, the last element is a hash of
  // its address and of all further addresses.
  static constexpr unsigned kMost = 16;
  int line_;
  uint64_t calls_[kMost];  // return addresses, innermost first
  unsigned depth_ = 0;
};

}  // namespace kernkit::simulator
