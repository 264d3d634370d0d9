// SPDX-License-Identifier: Apache-2.0
// InitCheck: use of uninitialised bits in kernels that nvcc compiled. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// A use of undefined bits: a branch or an address that depends on the bits, or a store of the bits
/// to global memory. A use has two source lines: the line of the branch, address or store, and
/// the line that first read the bits.
struct UndefinedUse {
  std::string sentence;  ///< report with both lines, for the lowest-numbered block
  uint64_t count;        ///< number of uses with these two lines, counted for each lane
};

/// Reports uses of uninitialised bits of registers, of shared and local memory, and of global
/// memory, by PTX kernels that begin to run during the object's lifetime. Requires that the program
/// links kernkit::simulator_ptx. Several objects may exist, each with its own record. While an
/// object is created or destroyed, no kernel may run in another thread. Functions throw only
/// std::bad_alloc.
class InitCheck {
 public:
  /// Begins to record uses. Global memory that was allocated before the first InitCheck of the
  /// process counts as initialised. All global memory counts as initialised after a kernel that ran
  /// without an InitCheck, or that ran only some blocks of its grid (CudaRuntime::sample_blocks()).
  InitCheck();
  /// Stops recording, without waiting: kernels that were launched but have not begun are not
  /// checked. Throws nothing.
  ~InitCheck();
  InitCheck(const InitCheck&) = delete;
  InitCheck& operator=(const InitCheck&) = delete;

  /// Returns a copy of the uses so far, ordered by kernel, with one entry for each kernel and pair
  /// of lines: the line of the use, and the line of the first read of the bits. Does not wait for
  /// kernels: synchronise the device first.
  std::vector<UndefinedUse> uses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernkit::simulator
