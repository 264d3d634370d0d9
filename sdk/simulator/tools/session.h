// SPDX-License-Identifier: Apache-2.0
// Session: the active tools. A test switches tools on, see kernkit/simulator/counters.h and
// racecheck.h. For a whole program, two environment variables switch tools on: KERNKIT_TOOLS, such
// as "counters,memcheck", and KERNKIT_TOOLS_FOLDER, the folder of a report for each process.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/grid.h"
#include "tools/counts.h"
#include "tools/determinism.h"
#include "tools/ended_threads.h"
#include "tools/findings.h"
#include "tools/happens_before.h"
#include "tools/report.h"

namespace kernkit::simulator::ptx {

class Session : public Tools {
 public:
  static Session& of_process();

  template <class T>
  void add(T* total) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list_of(total).push_back(total);
  }
  template <class T>
  void remove(T* total) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& all = list_of(total);
    all.erase(std::remove(all.begin(), all.end(), total), all.end());
  }
  /// Returns the hooks of all active tools for a launch; null if no tool is active. `work_clock`
  /// becomes the argument `dependent` of KernelRaces.
  std::unique_ptr<LaunchHooks> begin(const LaunchStart& launch,
                                     const std::shared_ptr<void>& work_clock) override;
  std::shared_ptr<void> work_clock() const override;
  uint64_t number_launch() override { return ++launches_; }
  /// Returns the ledgers that record races.
  std::vector<RaceLedger*> race_ledgers() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return race_ledgers_;
  }
  /// Records the fault of a launch as a finding of `tool`.
  void end(const std::string& kernel, const std::string& sentence, const char* tool) override;
  /// Records that a call of the host returned an error.
  void note_call(const char* function, cudaError_t error, const std::string& why);

 private:
  Session();
  /// Called at the end of the process: completes the work of all streams and writes the report.
  void end_process();
  /// Returns the findings of all tools so far.
  std::vector<Finding> all_findings() const;
  void write() const;
  std::vector<CounterTotals*>& list_of(CounterTotals*) { return totals_; }
  std::vector<RaceLedger*>& list_of(RaceLedger*) { return race_ledgers_; }
  std::vector<InitLedger*>& list_of(InitLedger*) { return init_ledgers_; }
  std::vector<SyncLedger*>& list_of(SyncLedger*) { return sync_ledgers_; }

  mutable std::mutex mutex_;
  std::vector<CounterTotals*> totals_;
  std::vector<RaceLedger*> race_ledgers_;
  std::vector<InitLedger*> init_ledgers_;
  std::vector<SyncLedger*> sync_ledgers_;
  std::string folder_;  // folder of the report; "" for no report
  ProcessState process_;
  size_t written_ = 0;  // number of findings in the last report
  CounterTotals of_program_;
  RaceLedger races_of_program_;
  InitLedger uses_of_program_;
  SyncLedger barriers_of_program_;
  std::unique_ptr<LaunchOutputs> outputs_;  // null if the tool determinism is off
  uint64_t launches_ = 0;                   // number of launches by the host
  std::vector<Finding> findings_;
};

}  // namespace kernkit::simulator::ptx
