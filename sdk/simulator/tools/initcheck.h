// SPDX-License-Identifier: Apache-2.0
// InitCheck: use of bits that come from what nobody wrote: in a branch, in an address, in a store
// to global memory. They travel through registers, shared and local memory without being reported.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/tool_hooks.h"
#include "tools/definedness.h"
#include "tools/findings.h"
#include "tools/instrumented_kernel.h"

namespace kernkit::simulator::ptx {

class InitWatch : public Watch {
 public:
  InitWatch(const InstrumentedKernel& instrumented, std::vector<InitLedger*> ledgers);
  std::unique_ptr<BlockWatch> of(Block& block) override;

 private:
  class OfBlock;
  const std::vector<BitPlan>& plans_;
  const InstrumentedKernel& instrumented_;
  std::vector<InitLedger*> ledgers_;
};

}  // namespace kernkit::simulator::ptx
