// SPDX-License-Identifier: Apache-2.0
// Session: which tools are on. A test switches them on, see kernkit/cuda_on_cpu/counters.h, and for
// a whole program the environment does: KERNKIT_TOOLS, as in "counters,memcheck", and
// KERNKIT_TOOLS_FOLDER, where each process leaves a file when it ends.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/grid.h"
#include "ptx/machine/watch.h"
#include "ptx/tools/counts.h"
#include "ptx/tools/report.h"

namespace kernkit::cuda_on_cpu::ptx {

class Session {
 public:
  static Session& of_process();

  void add(Ledger* ledger);
  void remove(Ledger* ledger);
  /// The tools of a launch; null where none is on. The kernel that then runs is the watched one.
  std::unique_ptr<Watch> begin(const Kernel& kernel, const Module& module, const std::string& name);
  /// What the launch did wrong counts as found by the tool that it is of.
  void note(const std::string& kernel, const PtxResult& result);

 private:
  Session();
  void write() const;

  mutable std::mutex mutex_;
  std::vector<Ledger*> ledgers_;
  std::string folder_;  // "": nothing is written
  Ledger of_program_;
  std::vector<Finding> findings_;
};

}  // namespace kernkit::cuda_on_cpu::ptx
