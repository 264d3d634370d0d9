// SPDX-License-Identifier: Apache-2.0
// AsyncOperations: the bulk copies and products of wgmma of a block, for racecheck. An operation is
// ordered with the accesses after a wait for its completion: for a phase of an mbarrier, a bulk
// group or a group of products.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hooks.h"
#include "ptx/machine/block.h"
#include "tools/memory_order.h"

namespace kernkit::simulator::ptx {

/// Keys of RemoteClock for asynchronous operations. A key identifies an object that completes
/// operations, such as an mbarrier; the time of the key is the number of completions.
struct CompletionKey {
  enum Kind : uint64_t { kMbarrier = 1, kProducts = 2, kReadGroups = 3, kGroups = 4 };

  static uint64_t of_mbarrier(uint64_t block, uint32_t at) {
    return make(kMbarrier, block, at / 8);
  }
  static uint64_t of_products(uint64_t block, unsigned warp) {
    return make(kProducts, block, warp / kWarpsOfGroup);
  }
  /// Returns the key of a thread's bulk groups. With `reads`, a group counts as complete once its
  /// copies have read their sources, otherwise once its copies are complete.
  static uint64_t of_groups(uint64_t block, unsigned thread, bool reads) {
    return make(reads ? kReadGroups : kGroups, block, thread);
  }
  static Kind kind(uint64_t key) { return static_cast<Kind>(key >> kShift); }

 private:
  static constexpr int kShift = 58;
  static uint64_t make(Kind kind, uint64_t block, uint64_t object) {
    return kind << kShift | block << 20 | object;
  }
};

/// The asynchronous operations of a block: the group numbers of its threads and warps, and its
/// pending copies.
class AsyncOperations {
 public:
  /// The bulk groups of a thread.
  struct Groups {
    uint32_t closed = 0, read = 0;  // number of closed groups; of groups that read their sources
    uint32_t issued = 0;            // group of the last copy; 0 without a copy
    uint32_t operation = 0;         // number of the operation that issued the copy
  };
  /// The part of a copy that writes to the shared memory of the block `to`.
  struct Part {
    const Block* to;
    uint32_t completion;  // index into LaunchOrder::completions
  };

  void start() {
    groups_.clear();
    pending_.clear();
    for (uint32_t& groups : product_groups_) groups = 0;
  }
  Groups& groups(unsigned thread) { return groups_[thread]; }
  const std::map<unsigned, Groups>& all_groups() const { return groups_; }
  /// Returns a reference to the number of groups of products that a warp has committed.
  uint32_t& product_groups(unsigned warp) { return product_groups_[warp]; }

  void add(uint64_t copy, const Part& part) { pending_[copy].push_back(part); }
  /// Calls visit(completion) for the part of a copy that writes to the shared memory of the block
  /// `to`.
  template <class Visit>
  void land(uint64_t copy, const Block& to, const Visit& visit) {
    const auto parts = pending_.find(copy);
    if (parts == pending_.end()) return;
    for (const Part& part : parts->second) {
      if (part.to == &to) visit(part.completion);
    }
    if (parts->second.back().to == &to) pending_.erase(parts);
  }

 private:
  std::map<unsigned, Groups> groups_;              // groups by thread
  std::map<uint64_t, std::vector<Part>> pending_;  // parts by number of the copy
  uint32_t product_groups_[kMostWarps] = {};
};

}  // namespace kernkit::simulator::ptx
