// SPDX-License-Identifier: Apache-2.0
// Observers: the strong loads that observed a write before the write was ordered with them, see
// "Observation Order" in the PTX ISA's chapter "Memory Consistency Model".
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>

namespace kernkit::simulator::ptx {

/// The observers of the writes to a memory: strong loads that read a strong write of another warp
/// although nothing else orders the write before the load.
class Observers {
 public:
  struct Observer {
    uint64_t block;
    unsigned lane;
    uint32_t time;
    uint8_t warp;
  };

  bool is_empty() const { return all_.empty(); }
  void clear() { all_.clear(); }

  /// Adds an observer of the write with the access number `write` to the bytes at `at`, at most a
  /// word. Keeps only the first observation by a lane, which precedes its later observations. Adds
  /// nothing after kMost observations, to bound the memory.
  void add(uint64_t at, uint32_t bytes, uint32_t write, const Observer& observer) {
    if (all_.size() >= kMost) return;
    const uint64_t thread = observer.block << 10 | uint64_t{observer.warp} << 5 | observer.lane;
    all_.emplace(Key{at / kWord, write, thread, mask_of(at, bytes)}, observer);
  }
  /// Returns whether test(observer) holds for an observer of a write to the byte at `at`.
  template <class Test>
  bool any(uint64_t at, uint32_t write, const Test& test) const {
    const uint8_t mask = mask_of(at, 1);
    const uint64_t word = at / kWord;
    for (auto entry = all_.lower_bound(Key{word, write, 0, 0}); entry != all_.end(); ++entry) {
      if (std::get<0>(entry->first) != word || std::get<1>(entry->first) != write) return false;
      if ((std::get<3>(entry->first) & mask) != 0 && test(entry->second)) return true;
    }
    return false;
  }
  /// Removes the observers of the bytes at `at` for each write for which is_gone(write) holds.
  template <class IsGone>
  void remove(uint64_t at, uint32_t bytes, const IsGone& is_gone) {
    const uint8_t mask = mask_of(at, bytes);
    const uint64_t word = at / kWord;
    auto entry = all_.lower_bound(Key{word, 0, 0, 0});
    while (entry != all_.end() && std::get<0>(entry->first) == word) {
      const bool goes =
          (std::get<3>(entry->first) & mask) != 0 && is_gone(std::get<1>(entry->first));
      entry = goes ? all_.erase(entry) : std::next(entry);
    }
  }

 private:
  static constexpr uint64_t kWord = 4;
  static constexpr size_t kMost = size_t{1} << 20;
  // Number of the word, access number of the write, thread, and mask of the bytes of the word.
  using Key = std::tuple<uint64_t, uint32_t, uint64_t, uint8_t>;
  static uint8_t mask_of(uint64_t at, uint32_t bytes) {
    return static_cast<uint8_t>(((1u << bytes) - 1) << at % kWord);
  }
  std::map<Key, Observer> all_;
};

}  // namespace kernkit::simulator::ptx
