// SPDX-License-Identifier: Apache-2.0
#include "tools/kernel_races.h"

#include <algorithm>
#include <utility>

#include "ptx/machine/cluster.h"
#include "tools/block_races.h"
#include "tools/happens_before.h"

namespace kernkit::simulator::ptx {

KernelRaces::KernelRaces(std::shared_ptr<const InstrumentedKernel> instrumented,
                         const LaunchStart& start, std::vector<RaceLedger*> ledgers,
                         const WorkClock* dependent)
    : instrumented_(std::move(instrumented)),
      ledgers_(std::move(ledgers)),
      least_(least_level(ledgers_)),
      cells_(GlobalCells::of_process()),
      products_(instrumented_->kernel),
      fences_(instrumented_->kernel) {
  const Kernel& kernel = instrumented_->kernel;
  traits_.reserve(kernel.code.size());
  for (const Operation& operation : kernel.code) {
    traits_.push_back(race_traits_of(operation, kernel.origins[operation.number]));
    if (traits_.back().does == RaceTraits::kAccesses) traits_.back().number = num_accesses_++;
    const Origin& origin = kernel.origins[operation.number];
    is_async_ = is_async_ || origin.has_effect(Effect::kIssuesCopies) ||
                origin.has_effect(Effect::kIssuesProducts);
  }
  LaunchRecord launch{start.name, instrumented_, work_now(), start.grid, start.block, start.device};
  launch.previous = previous_work();
  if (dependent != nullptr && launch.work.stream != nullptr) {
    const auto last = dependent->find(launch.work.stream);
    launch.ended =
        std::max({cells_.ended_before(launch.work, launch.previous), acquired_by_other_streams(),
                  last != dependent->end() ? last->second : 0});
    may_overlap_ = launch.ended < launch.previous;
  }
  launch_ = cells_.begin(std::move(launch));
}
KernelRaces::~KernelRaces() { races_.add_to(ledgers_); }

// Sets the scope of all strong accesses to mbarriers to `cluster`, for clusters of several blocks.
void KernelRaces::widen_scopes() {
  for (RaceTraits& traits : traits_) {
    if (traits.is_mbarrier && traits.is_strong()) traits.scope = ThreadScope::kCluster;
  }
}

std::unique_ptr<BlockHooks> KernelRaces::block_hooks(Block& block) {
  if (block.cluster->size() > 1) {
    widen_scopes();
    order_.keep_clusters();
  }
  return std::make_unique<BlockRaces>(*this, block);
}

}  // namespace kernkit::simulator::ptx
