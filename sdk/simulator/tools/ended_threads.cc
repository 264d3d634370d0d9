// SPDX-License-Identifier: Apache-2.0
#include "tools/ended_threads.h"

#include <map>

#include "ptx/machine/block.h"
#include "ptx/machine/fault.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

class EndedThreads::OfBlock : public BlockHooks {
 public:
  OfBlock(EndedThreads& all, Block& block) : all_(all), block_(block) {}
  ~OfBlock() override {
    for (SyncLedger* ledger : all_.ledgers_) {
      for (const auto& [line, finding] : findings_)
        ledger->add({block_.launch.name, line, ""}, finding);
    }
  }

  void opens(uint32_t barrier) override {
    unsigned ended = 0;
    while (ended < block_.threads && is_live(ended)) ++ended;
    if (ended == block_.threads) return;
    unsigned waiting = 0, first = block_.threads;
    const Operation* at = nullptr;
    for (const Warp& warp : block_.warps) {
      for (const Part& part : warp.parts) {
        if (part.state != Part::kWaits || part.barrier != barrier) continue;
        waiting += static_cast<unsigned>(__builtin_popcount(part.mask));
        if (at != nullptr) continue;
        first = warp.number * 32 + static_cast<unsigned>(__builtin_ctz(part.mask));
        at = &block_.launch.kernel.code[part.pc];
      }
    }
    if (at == nullptr || at->src1 != kNone) return;  // a barrier with a count may exclude threads
    const std::string line = line_text(block_, *at);
    FindingCount& finding = findings_[line];
    const dim3 grid = block_.launch.grid;
    const uint64_t number =
        block_.index.x + uint64_t{grid.x} * (block_.index.y + uint64_t{grid.y} * block_.index.z);
    if (finding.count++ != 0 && finding.block <= number) return;
    finding.block = number;
    finding.sentence = location_text(block_, first) + std::to_string(waiting) + " of the block's " +
                       std::to_string(block_.threads) + " threads wait at " +
                       function_text(block_.launch.kernel, *at) + " and thread " +
                       thread_text(block_, ended) + " has ended" + line;
  }

 private:
  bool is_live(unsigned thread) const {
    return (block_.warps[thread / 32].live >> thread % 32 & 1) != 0;
  }

  EndedThreads& all_;
  Block& block_;
  std::map<std::string, FindingCount> findings_;  // findings by line_text() of the barrier
};

std::unique_ptr<BlockHooks> EndedThreads::block_hooks(Block& block) {
  return std::make_unique<OfBlock>(*this, block);
}

}  // namespace kernkit::simulator::ptx
