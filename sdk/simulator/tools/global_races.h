// SPDX-License-Identifier: Apache-2.0
// GlobalRaces: accesses to a byte of global memory, one of which changes it, with nothing that
// orders them: of two blocks, of two warps of a block, of two kernels.
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
  /// `dependent`: of a programmatic dependent launch, what its maker knew of streams; else null.
  GlobalRaces(std::shared_ptr<const InstrumentedKernel> instrumented, std::string kernel,
              std::vector<RaceLedger*> ledgers, dim3 grid, dim3 block, const KnownWork* dependent);
  ~GlobalRaces() override;
  std::unique_ptr<BlockHooks> of(Block& block) override;
  bool needs_order() const override { return true; }

 private:
  class OfBlock;

  std::vector<RaceLedger*> ledgers_;
  bool of_lanes_;  // it looks for those, too
  GlobalCells& cells_;
  uint32_t launch_;
  bool may_overlap_ = false;                  // the kernel before it in its stream may still run
  std::map<uint64_t, RemoteClock> released_;  // at the addresses of ordered accesses
  RacesFound races_;
};

}  // namespace kernkit::simulator::ptx
