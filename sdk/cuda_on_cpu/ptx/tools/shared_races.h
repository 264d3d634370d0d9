// SPDX-License-Identifier: Apache-2.0
// SharedRaces: accesses of two warps to a byte of shared memory, one of which changes it, with
// nothing that orders them. Those of one warp count as ordered.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/watch.h"
#include "ptx/tools/report.h"
#include "ptx/tools/watched_kernel.h"

namespace kernkit::cuda_on_cpu::ptx {

/// The races of many launches: each pair of lines once, as the block of the lowest number has it.
class RaceLedger {
 public:
  using Pair = std::tuple<std::string, std::string, std::string>;  // kernel, and both accesses
  struct Race {
    uint64_t block = 0, count = 0;
    std::string sentence;
  };

  void add(const Pair& pair, const Race& race);
  std::vector<Finding> findings() const;

 private:
  mutable std::mutex mutex_;
  std::map<Pair, Race> races_;
};

class SharedRaces : public Watch {
 public:
  SharedRaces(const WatchedKernel& watched, std::vector<RaceLedger*> ledgers)
      : watched_(watched), ledgers_(std::move(ledgers)) {}
  std::unique_ptr<BlockWatch> of(Block& block) override;

 private:
  class OfBlock;
  const WatchedKernel& watched_;
  std::vector<RaceLedger*> ledgers_;
};

}  // namespace kernkit::cuda_on_cpu::ptx
