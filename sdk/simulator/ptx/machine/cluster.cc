// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/cluster.h"

#include "ptx/machine/fault.h"
#include "schedule/progress.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {

Cluster::Cluster(const Launch& launch)
    : size_(launch.cluster), count_(static_cast<uint32_t>(count(size_))), ended_(count_) {
  for (uint32_t rank = 0; rank < count_; ++rank) {
    blocks_.push_back(std::make_unique<Block>(launch, this, rank));
  }
}

std::string Cluster::text() const {
  return "a cluster of " + std::to_string(count_) + (count_ == 1 ? " block" : " blocks");
}

void Cluster::start(uint3 index, uint64_t random) {
  phase_ = 0;
  arrived_ = live_ = 0;
  for (uint32_t rank = 0; rank < size(); ++rank) {
    const uint3 within = index_of(rank, size_);
    const uint3 of_block{index.x * size_.x + within.x, index.y * size_.y + within.y,
                         index.z * size_.z + within.z};
    live_ += blocks_[rank]->threads;
    ended_[rank] = false;
    blocks_[rank]->start(of_block, random == 0 ? 0 : random + rank);
  }
}

Block::Stop Cluster::run() {
  for (;;) {
    bool any_runs = false, yields = false, all_ended = true;
    for (uint32_t rank = 0; rank < size(); ++rank) {
      if (ended_[rank]) continue;
      const Block::Stop stop = blocks_[rank]->run();
      ended_[rank] = stop == Block::Stop::kEnded;
      all_ended = all_ended && ended_[rank];
      any_runs = any_runs || stop != Block::Stop::kWaits;
      yields = yields || stop == Block::Stop::kYields;
    }
    if (all_ended) return Block::Stop::kEnded;
    // Also tests is_ready(): a block that ran later in this round may have let an earlier block of
    // the round continue.
    if (!any_runs && !any_is_ready()) throw_deadlock();
    if (yields) return Block::Stop::kYields;
  }
}

bool Cluster::any_is_ready() {
  for (uint32_t rank = 0; rank < count_; ++rank) {
    if (!ended_[rank] && blocks_[rank]->is_ready()) return true;
  }
  return false;
}

// Reports where the first block waits, and where other blocks wait if their threads wait elsewhere.
void Cluster::throw_deadlock() const {
  std::string text;
  for (uint32_t rank = 0; rank < count_; ++rank) {
    if (ended_[rank]) continue;
    const Block& waiting = *blocks_[rank];
    unsigned thread = 0;
    const std::string waits = waiting.waits_text(&thread);
    if (text.empty()) {
      text = location_text(waiting, thread) + waits;
    } else if (text.find(waits) == std::string::npos) {
      text += "; block " + index_text(waiting.index) + ": " + waits;
    }
  }
  throw Fault{text, cudaErrorLaunchFailure};
}

const Block& Cluster::first_block() const {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (!ended_[rank]) return *blocks_[rank];
  }
  return *blocks_.front();
}

void Cluster::arrive(unsigned threads) {
  arrived_ += threads;
  complete_phase();
}

void Cluster::end(unsigned threads) {
  live_ -= threads;
  if (arrived_ != 0) complete_phase();
}

// Completes the phase if all threads that have not ended have arrived.
void Cluster::complete_phase() {
  if (arrived_ < live_) return;
  arrived_ = 0;
  ++phase_;
  steps_passed.add();
  for (const std::unique_ptr<Block>& block : blocks_) block->open_cluster_barrier();
}

SharedLocation shared_location(const Warp& warp, const unsigned char* pointer) {
  const Cluster& cluster = *warp.block->cluster;
  for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
    Block& block = cluster.block(rank);
    const unsigned char* begin = block.shared.data();
    if (pointer >= begin && pointer < begin + block.shared.size())
      return {&block, static_cast<uint32_t>(pointer - begin)};
  }
  return {nullptr, 0};
}

}  // namespace kernkit::simulator::ptx
