// SPDX-License-Identifier: Apache-2.0
// Cluster: blocks that run together, on one OS thread, and access each other's shared memory. Every
// block is in a cluster, which has one block unless the launch or the kernel sets another size.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/machine/block.h"

namespace kernkit::simulator::ptx {

class Cluster {
 public:
  explicit Cluster(const Launch& launch);
  /// Starts the blocks of the cluster at `index` in the grid of clusters.
  void start(uint3 index, uint64_t random);
  /// Runs until all blocks have ended, or until it is another cluster's turn. Throws a Fault for an
  /// error of a thread or a deadlock.
  Block::Stop run();

  /// Returns the number of blocks.
  uint32_t size() const { return count_; }
  /// Returns a text for messages: "a cluster of 2 blocks".
  std::string text() const;
  Block& block(uint32_t rank) const { return *blocks_[rank]; }
  /// Returns the first block that has not ended.
  const Block& first_block() const;

  /// Returns the number of phases of barrier.cluster that have completed.
  uint64_t phase() const { return phase_; }
  /// Counts threads that arrived at barrier.cluster, which may complete the phase.
  void arrive(unsigned threads);
  /// Counts threads that ended, which may complete the phase.
  void end(unsigned threads);

 private:
  void complete_phase();
  bool any_is_ready();
  [[noreturn]] void throw_deadlock() const;

  dim3 size_;
  uint32_t count_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<bool> ended_;
  uint64_t phase_ = 0;
  unsigned arrived_ = 0;  // threads that arrived in this phase
  unsigned live_ = 0;     // threads that have not ended
};

/// A location in the shared memory of a block of a cluster.
struct SharedLocation {
  Block* block;
  uint32_t at;  // offset in the shared memory of the block [bytes]
};
/// Returns the location of a pointer into the shared memory of a block of the warp's cluster; a
/// null block for other memory.
SharedLocation shared_location(const Warp& warp, const unsigned char* pointer);

}  // namespace kernkit::simulator::ptx
