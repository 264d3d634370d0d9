// SPDX-License-Identifier: Apache-2.0
// AsynchronousWork: work of a block that completes after the instruction that issued the work: bulk
// copies, and arrivals of cp.async. Without a seed, work completes as late as possible, so that a
// missing wait is visible in the results.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>

namespace kernkit::simulator::ptx {

class AsynchronousWork {
 public:
  bool empty() const { return queue_.empty(); }
  void clear() {
    queue_.clear();
    groups_.clear();
  }
  /// Returns a new number for an asynchronous copy. The numbers are ascending.
  uint64_t next_number() { return ++numbers_; }
  /// Adds work that is in no bulk group.
  void add(std::function<void()> work) { queue_.push_back({std::move(work), 0, 0, false}); }
  /// Adds work to the open bulk group of a thread.
  void add_to_group(unsigned thread, std::function<void()> work) {
    queue_.push_back({std::move(work), thread, groups_[thread], true});
  }
  /// Closes the open bulk group of a thread.
  void commit_group(unsigned thread) { ++groups_[thread]; }
  /// Completes all but the last `pending` closed bulk groups of a thread.
  void complete_groups(unsigned thread, uint64_t pending) {
    const uint64_t open = groups_[thread];
    complete([&](const Entry& entry) {
      return entry.in_group && entry.thread == thread && entry.group + pending < open;
    });
  }
  /// Completes the oldest work. Requires that work is pending.
  void complete_first() {
    const std::function<void()> work = std::move(queue_.front().work);
    queue_.pop_front();
    work();
  }

 private:
  struct Entry {
    std::function<void()> work;
    unsigned thread;
    uint64_t group;
    bool in_group;
  };
  template <class Completes>
  void complete(const Completes& completes) {
    for (size_t i = 0; i < queue_.size();) {
      if (!completes(queue_[i])) {
        ++i;
        continue;
      }
      const std::function<void()> work = std::move(queue_[i].work);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      work();
    }
  }

  std::deque<Entry> queue_;
  uint64_t numbers_ = 0;
  std::unordered_map<unsigned, uint64_t> groups_;  // number of each thread's open group
};

}  // namespace kernkit::simulator::ptx
