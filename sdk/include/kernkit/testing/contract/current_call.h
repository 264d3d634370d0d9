// SPDX-License-Identifier: Apache-2.0
// CurrentCall: the text of the op's call in progress, for a signal handler (impl/crash.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

namespace kernkit::testing::contract {

/// The text of the op's call in progress, for a signal handler. There is one object in a process:
/// rules make one call at a time, in one thread. A signal handler reads the first `size` characters
/// of `text`.
struct CurrentCall {
  std::atomic<bool> is_watched{false};    ///< whether a CrashGuard exists
  std::atomic<bool> has_returned{false};  ///< whether the op has returned from the call
  /// Number of characters of `text`; 0 before the first call of a test.
  std::atomic<size_t> size{0};
  char text[2048] = {};   ///< beginning of Call::text(), without a terminating 0
  std::string variation;  ///< change of the example, such as "with x on rocm:0"

  /// Records the text of a call that begins, cut to 2048 bytes, and sets has_returned to false. A
  /// signal handler may run during the function. Throws nothing.
  void begin(const std::string& call) {
    size = 0;
    const size_t length = std::min(call.size(), sizeof(text));
    std::memcpy(text, call.data(), length);
    has_returned = false;
    size = length;
  }
  /// Sets has_returned to true when the call has returned; the text stays. Throws nothing.
  void end() { has_returned = true; }
};

/// Returns the only CurrentCall of the process, which exists until the end of the process. Throws
/// nothing.
inline CurrentCall& current_call() {
  static CurrentCall call;
  return call;
}

/// Names the variation of the calls made during the object's lifetime. Use one object at a time.
class NamedVariation {
 public:
  /// Sets CurrentCall::variation to `what`, such as "with x on rocm:0". Throws only std::bad_alloc.
  explicit NamedVariation(const std::string& what) { current_call().variation = what; }
  NamedVariation(const NamedVariation&) = delete;
  NamedVariation& operator=(const NamedVariation&) = delete;
  /// Sets CurrentCall::variation to "". Throws nothing.
  ~NamedVariation() { current_call().variation.clear(); }
};

}  // namespace kernkit::testing::contract
