// SPDX-License-Identifier: Apache-2.0
// InitWatch: reports uninitialised bits in a branch, in an address, and in a store to global
// memory. Copies of uninitialised bits to registers, shared memory and local memory are not
// reported.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/definedness.h"
#include "tools/findings.h"

namespace kernkit::simulator::ptx {

class InitWatch : public LaunchHooks {
 public:
  InitWatch(const InstrumentedKernel& instrumented, std::vector<InitLedger*> ledgers);
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;

 private:
  class OfBlock;
  const std::vector<BitPlan>& plans_;
  const InstrumentedKernel& instrumented_;
  std::vector<InitLedger*> ledgers_;
};

}  // namespace kernkit::simulator::ptx
