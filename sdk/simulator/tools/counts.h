// SPDX-License-Identifier: Apache-2.0
// Counts: counters of the operations of a launch. CounterTotals: the sums of these counters over
// many launches.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hooks.h"
#include "kernkit/simulator/counters.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/traffic.h"

namespace kernkit::simulator::ptx {

struct UniqueSectors {
  SectorSet loads, stores, atomics;
};

/// Counters of launches, by the kernel's name and by source line.
class CounterTotals {
 public:
  struct Entry {
    uint64_t launches = 0, unique_sectors = 0;
    Counters counters;
    std::map<std::tuple<std::string, int, std::string>, Counters> lines;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> shapes;  // launches by LaunchShape
  };

  void add(const std::string& kernel, const LaunchShape& shape,
           const InstrumentedKernel& instrumented, const std::vector<Counters>& of_operations,
           const UniqueSectors& unique);
  std::vector<KernelCounters> kernels() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

/// Counts a launch, and adds its counters to the totals when the launch ends.
class Counts : public LaunchHooks {
 public:
  Counts(const InstrumentedKernel& instrumented, std::string kernel, const LaunchShape& shape,
         std::vector<CounterTotals*> totals);
  ~Counts() override;
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;

 private:
  class OfBlock;

  const InstrumentedKernel& instrumented_;
  std::string kernel_;
  LaunchShape shape_;
  std::vector<CounterTotals*> totals_;
  std::mutex mutex_;
  std::vector<Counters> of_operations_;
  UniqueSectors unique_;
};

}  // namespace kernkit::simulator::ptx
