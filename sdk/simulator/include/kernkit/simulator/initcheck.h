// SPDX-License-Identifier: Apache-2.0
// InitCheck: use of uninitialised bits in kernels that nvcc compiled. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// A branch, an address, or a store to global memory, that undefined bits decide or are stored by.
struct UndefinedUse {
  std::string sentence;  // with both lines, as the block of the lowest number had it
  uint64_t count;        // how many lanes' uses these two lines had
};

/// Watches allocations and kernels while it lives. The program links kernkit::simulator_ptx.
class InitCheck {
 public:
  InitCheck();
  ~InitCheck();
  InitCheck(const InitCheck&) = delete;
  InitCheck& operator=(const InitCheck&) = delete;

  /// Each pair of lines, of the use and of what read first what nobody wrote, once.
  std::vector<UndefinedUse> uses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
