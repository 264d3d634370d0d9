// SPDX-License-Identifier: Apache-2.0
// InitCheck: use of uninitialised bits in kernels that nvcc compiled. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// A use of undefined bits: a branch or an address that depends on the bits, or a store of the bits
/// to global memory. A use has two source lines: its own, and the line that first read the bits.
struct UndefinedUse {
  std::string sentence;  ///< report with both lines, for the lowest-numbered block
  uint64_t count;        ///< number of such uses with these two lines, in all lanes
};

/// Reports uses of uninitialised bits by kernels that are launched during the object's lifetime.
/// The bits come from registers, or from memory that was allocated during the lifetime. The program
/// must link kernkit::simulator_ptx. Several objects may exist, each with its own record. Functions
/// throw only std::bad_alloc.
class InitCheck {
 public:
  /// Begins to record what allocations, copies and kernels write. Memory that was allocated earlier
  /// counts as initialised.
  InitCheck();
  /// Stops recording, without waiting for kernels.
  ~InitCheck();
  InitCheck(const InitCheck&) = delete;
  InitCheck& operator=(const InitCheck&) = delete;

  /// Returns a copy of the uses so far, with one entry for each pair of lines. Does not wait for
  /// kernels: synchronise the device first.
  std::vector<UndefinedUse> uses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
