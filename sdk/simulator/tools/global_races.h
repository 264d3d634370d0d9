// SPDX-License-Identifier: Apache-2.0
// GlobalRaces: the part of racecheck for global memory. Reports unordered accesses to a byte by two
// blocks, two warps of a block or two kernels, if an access changes the byte.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/findings.h"
#include "tools/global_cells.h"

namespace kernkit::simulator::ptx {

class GlobalRaces : public LaunchHooks {
 public:
  /// `dependent`: the work that happened before the call of a programmatic dependent launch; null
  /// for other launches.
  GlobalRaces(std::shared_ptr<const InstrumentedKernel> instrumented, std::string kernel,
              std::vector<RaceLedger*> ledgers, dim3 grid, dim3 block, const WorkClock* dependent);
  ~GlobalRaces() override;
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;
  bool needs_order() const override { return true; }

 private:
  class OfBlock;

  std::vector<RaceLedger*> ledgers_;
  bool of_lanes_;  // whether races between lanes of a warp are reported
  GlobalCells& cells_;
  uint32_t launch_;
  bool may_overlap_ = false;  // whether the previous kernel in the stream may still run
  std::map<uint64_t, RemoteClock> released_;  // clocks released by address of an ordered access
  RaceCounts races_;
};

}  // namespace kernkit::simulator::ptx
