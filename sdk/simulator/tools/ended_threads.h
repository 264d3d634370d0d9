// SPDX-License-Identifier: Apache-2.0
// EndedThreads: barriers of a block that open although some threads of the block have ended. Such a
// barrier is valid, since a barrier only waits for threads that have not ended, but is often a
// mistake.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hooks.h"
#include "tools/findings.h"

namespace kernkit::simulator::ptx {

struct SyncLedger : FindingLedger {
  SyncLedger() : FindingLedger("synccheck") {}
};

class EndedThreads : public LaunchHooks {
 public:
  explicit EndedThreads(std::vector<SyncLedger*> ledgers) : ledgers_(std::move(ledgers)) {}
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;

 private:
  class OfBlock;

  std::vector<SyncLedger*> ledgers_;
};

}  // namespace kernkit::simulator::ptx
