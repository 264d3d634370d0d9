// SPDX-License-Identifier: Apache-2.0
// InitCheck: use of bits that come from what nobody wrote: in a branch, in an address, in a store
// to global memory. They travel through registers, shared and local memory without being reported.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ptx/machine/block.h"
#include "ptx/machine/watch.h"
#include "ptx/tools/bit_rules.h"
#include "ptx/tools/findings.h"
#include "ptx/tools/watched_kernel.h"

namespace kernkit::cuda_on_cpu::ptx {

class InitWatch : public Watch {
 public:
  InitWatch(const WatchedKernel& watched, std::vector<InitLedger*> ledgers);
  std::unique_ptr<BlockWatch> of(Block& block) override;

 private:
  class OfBlock;
  const std::vector<BitPlan>& plans_;
  const WatchedKernel& watched_;
  std::vector<InitLedger*> ledgers_;
};

}  // namespace kernkit::cuda_on_cpu::ptx
