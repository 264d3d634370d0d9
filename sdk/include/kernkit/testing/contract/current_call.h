// SPDX-License-Identifier: Apache-2.0
// CurrentCall: the text of the op's call in progress, for a signal handler (impl/crash.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

namespace kernkit::testing::contract {

/// There is one object in a process: rules make one call at a time. A signal handler reads the
/// first `size` characters of `text`.
struct CurrentCall {
  std::atomic<bool> is_watched{false};  // a CrashGuard exists
  std::atomic<bool> has_returned{false};
  std::atomic<size_t> size{0};  // 0: no call was made
  char text[2048] = {};
  std::string variation;  // "with x on rocm:0"

  void begin(const std::string& call) {
    size = 0;
    const size_t length = std::min(call.size(), sizeof(text));
    std::memcpy(text, call.data(), length);
    has_returned = false;
    size = length;
  }
  void end() { has_returned = true; }
};

inline CurrentCall& current_call() {
  static CurrentCall call;
  return call;
}

/// Names the variation of the calls made during the object's lifetime.
class NamedVariation {
 public:
  explicit NamedVariation(const std::string& what) { current_call().variation = what; }
  NamedVariation(const NamedVariation&) = delete;
  NamedVariation& operator=(const NamedVariation&) = delete;
  ~NamedVariation() { current_call().variation.clear(); }
};

}  // namespace kernkit::testing::contract
