// SPDX-License-Identifier: Apache-2.0
// ChildLaunches: the kernels that the threads of a grid launch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device_memory.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

/// A launch by a thread of a kernel.
struct ChildLaunch {
  const Function* kernel = nullptr;
  dim3 grid, block;
  uint32_t shared_bytes = 0;                    // dynamic shared memory [bytes]
  std::unique_ptr<unsigned char[]> parameters;  // the kernel's parameter memory
  size_t parameter_bytes = 0;
  bool is_launched = false;
  bool is_tail = false;  // whether the kernel runs after all other kernels of the grid
};

/// The launches by threads of a grid. Several OS threads may call the members at the same time.
class ChildLaunches {
 public:
  /// Prepares a launch. Returns the address of the launch's parameter memory, which the launching
  /// thread fills.
  uint64_t allocate(const Function& kernel, dim3 grid, dim3 block, uint32_t shared_bytes);
  /// Adds the prepared launch whose parameter memory is at `parameters`. Returns false if no launch
  /// was prepared at this address, or if the launch was added before.
  bool launch(uint64_t parameters, bool is_tail);
  /// Returns the address of a copy of a text, which kernels can read until the last launch has
  /// ended.
  uint64_t address_of(const std::string& text);
  /// Returns the range of the parameter memory or text that contains an address; an empty range for
  /// other addresses.
  Range range_of(uint64_t address) const;
  /// Removes and returns the launches, in the order of the calls of launch(), but tail launches
  /// last.
  std::vector<ChildLaunch> take();

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, ChildLaunch> prepared_;  // launches by address of their parameters
  std::vector<uint64_t> launched_;            // keys of `prepared_`, in the order of the launches
  std::set<std::string> texts_;
};

}  // namespace kernkit::simulator::ptx
