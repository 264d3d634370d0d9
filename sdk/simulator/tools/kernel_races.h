// SPDX-License-Identifier: Apache-2.0
// KernelRaces: racecheck for the accesses of a kernel. Reports conflicting accesses to a byte of
// shared or global memory that the PTX memory model does not order, see docs/racecheck.md.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/findings.h"
#include "tools/global_cells.h"
#include "tools/memory_order.h"
#include "tools/observers.h"
#include "tools/product_fences.h"
#include "tools/product_registers.h"
#include "tools/race_traits.h"

namespace kernkit::simulator::ptx {

class BlockRaces;

class KernelRaces : public LaunchHooks {
 public:
  /// `dependent` is the work that happened before the call of a programmatic dependent launch; null
  /// for other launches.
  KernelRaces(std::shared_ptr<const InstrumentedKernel> instrumented, const LaunchStart& launch,
              std::vector<RaceLedger*> ledgers, const WorkClock* dependent);
  ~KernelRaces() override;
  std::unique_ptr<BlockHooks> block_hooks(Block& block) override;
  bool needs_order() const override { return true; }
  bool continues_after_faults() const override { return true; }

 private:
  friend class BlockRaces;
  void widen_scopes();
  BlockRaces& of_block(const Block& block) const { return *blocks_.at(&block); }

  std::shared_ptr<const InstrumentedKernel> instrumented_;
  std::vector<RaceTraits> traits_;  // traits of each operation
  uint32_t num_accesses_ = 0;       // number of operations that access memory
  std::vector<RaceLedger*> ledgers_;
  RaceLevel least_;  // least severe level that is reported
  GlobalCells& cells_;
  uint32_t launch_;
  bool may_overlap_ = false;  // whether the previous kernel in the stream may still run
  LaunchOrder order_;
  bool is_async_ = false;  // whether the kernel has bulk copies or products of wgmma
  ProductRegisters products_;
  ProductFences fences_;                                  // fences of products
  std::unordered_map<const Block*, BlockRaces*> blocks_;  // hooks of each block
  // By address of a word of global memory: the warps, by key_of(), that stored the same value
  // there.
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>> same_value_;
  Observers observers_;  // observers of writes to global memory
  RaceCounts races_;
};

}  // namespace kernkit::simulator::ptx
