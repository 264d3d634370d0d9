// SPDX-License-Identifier: Apache-2.0
// Determinism: records the memory that each launch changes, so that runs with different seeds can
// be compared. `kernkit sanitize --tool determinism` compares the files of two runs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hooks.h"
#include "ptx/machine/instrumented_kernel.h"
#include "tools/changed_memory.h"

namespace kernkit::simulator::ptx {

/// A launch of the host: its number in the order of calls, from 1, and the number of its run, which
/// is 1 except in later runs of a graph.
struct LaunchNumber {
  uint64_t call = 0, run = 0;
  bool operator==(const LaunchNumber& other) const {
    return call == other.call && run == other.run;
  }
};

/// Assigns numbers to sets of operations. Each word that a launch stores has such a set: the
/// operations that stored to the word.
class WriterSets {
 public:
  /// Returns the number of the set that contains the operations of set number `before` and
  /// `operation`. 0 is the number of the empty set; add() also returns 0 for a new set once the
  /// other 65,535 numbers are in use.
  uint16_t add(uint16_t before, uint32_t operation);
  const std::vector<std::set<uint32_t>>& all() const { return sets_; }

 private:
  std::vector<std::set<uint32_t>> sets_{1};
  std::map<std::set<uint32_t>, uint16_t> numbers_;
  std::map<std::pair<uint16_t, uint32_t>, uint16_t> added_;
};

/// Writes the results of a process's launches to files. The file PROCESS.launches contains a line
/// "CALL RUN DIGEST KERNEL" for each launch, in the order in which the launches end. Launches by a
/// kernel belong to the host's launch of that kernel; a later line for the same launch replaces an
/// earlier line.
class LaunchOutputs {
 public:
  /// `folder`: folder of the files. `described`: the launch "CALL:RUN" that the file
  /// PROCESS.outputs describes with its bytes and operations; null for none. `seed`: the seed of
  /// the orders of blocks and threads of all launches; 0 for the seeds that the program sets.
  LaunchOutputs(const std::string& folder, const char* described, unsigned seed);
  ~LaunchOutputs();
  LaunchOutputs(const LaunchOutputs&) = delete;
  LaunchOutputs& operator=(const LaunchOutputs&) = delete;

  std::unique_ptr<LaunchHooks> begin(const LaunchStart& launch,
                                     std::shared_ptr<const InstrumentedKernel> instrumented);

 private:
  class Watch;
  /// Atomics that several warps ran on one word, in an order that depends on the schedule.
  struct Contended {
    struct Last {
      uint64_t warp = 0;  // key_of() of the last warp, plus 1
      std::string text;   // the operation
    };
    std::unordered_map<uint64_t, Last> of_words;  // by address
    std::set<std::string> texts;
    void add(std::unordered_map<uint64_t, Last>* words, uint64_t at, uint64_t warp,
             const std::string& text);
  };
  void end(const std::string& kernel);
  void describe(const std::string& kernel) const;

  std::string path_;  // path of the files, without the suffix
  LaunchNumber described_, now_;
  unsigned seed_;
  std::FILE* file_ = nullptr;
  std::map<uint64_t, uint64_t> runs_;  // number of runs of each call
  ChangedMemory changed_;
  // For the described launch:
  WriterSets sets_;
  std::vector<std::string> texts_;  // texts of the operations in sets_
  Contended contended_;
};

}  // namespace kernkit::simulator::ptx
