// SPDX-License-Identifier: Apache-2.0
// InitCheck: use of uninitialised bits in kernels that nvcc compiled. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// A pair of source lines at which lanes use undefined bits: a branch or an address that depends on
/// undefined bits, or a store of undefined bits to global memory.
struct UndefinedUse {
  std::string sentence;  ///< report with both lines, for the block with the lowest number
  uint64_t count;        ///< number of uses by lanes at these two lines
};

/// Reports uses of uninitialised bits by kernels that are launched during its lifetime, in memory
/// that was allocated in the same time. The program links kernkit::simulator_ptx. Several objects
/// may exist, each with its own record. Functions throw only std::bad_alloc.
class InitCheck {
 public:
  /// Begins to record what allocations, copies and kernels write. Memory that was allocated before
  /// counts as initialised.
  InitCheck();
  /// Ends the record, without waiting for kernels.
  ~InitCheck();
  InitCheck(const InitCheck&) = delete;
  InitCheck& operator=(const InitCheck&) = delete;

  /// Returns a copy of the uses so far, with one entry for each pair of lines: the use, and the
  /// first read of the uninitialised bits. Does not wait for kernels: synchronise the device first.
  std::vector<UndefinedUse> uses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
