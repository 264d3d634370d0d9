// SPDX-License-Identifier: Apache-2.0
// SharedRaces: the part of racecheck for shared memory. Reports unordered accesses of two warps to
// a byte, if an access changes the byte. Accesses of one warp count as ordered unless a ledger
// records races of lanes.
#pragma once

#include <memory>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/findings.h"

namespace kernkit::simulator::ptx {

class SharedRaces : public LaunchHooks {
 public:
  SharedRaces(const InstrumentedKernel& instrumented, std::vector<RaceLedger*> ledgers)
      : instrumented_(instrumented), ledgers_(std::move(ledgers)) {}
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;

 private:
  class OfBlock;
  const InstrumentedKernel& instrumented_;
  std::vector<RaceLedger*> ledgers_;
};

}  // namespace kernkit::simulator::ptx
