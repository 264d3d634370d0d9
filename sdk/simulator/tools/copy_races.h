// SPDX-License-Identifier: Apache-2.0
// CallRaces: copies, fills and frees by calls of the runtime that are unordered with kernels or
// with other calls.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/findings.h"
#include "tools/global_cells.h"

namespace kernkit::simulator::ptx {

/// A call of the runtime that enqueued work in a stream.
struct CallOnStream {
  const char* function;
  unsigned stream;  // numbered in the order of their first work; 0 is a default stream
  bool in_graph;
};

/// The race check of work that a call enqueued, while the work runs.
class CallRaces {
 public:
  /// From now on, work of each call is checked.
  static void keep();
  /// Forgets all accesses. The next keep() starts without any.
  static void forget();

  CallRaces(const CallOnStream& call, std::vector<RaceLedger*> ledgers);
  ~CallRaces();
  CallRaces(const CallRaces&) = delete;
  CallRaces& operator=(const CallRaces&) = delete;
  void touch(CallAccess access, const void* at, size_t bytes);

 private:
  void touch(GlobalCell* cell, uint32_t seen, uint64_t address);
  bool races(uint32_t seen) const;
  void report(uint32_t seen, uint32_t seen_now, uint64_t address);

  std::vector<RaceLedger*> ledgers_;
  GlobalCells& cells_;
  std::string name_;
  uint32_t launch_;
  Range range_;                  // allocation around the last access
  std::set<uint32_t> reported_;  // records of earlier accesses with a reported race
  RacesFound races_;
};

}  // namespace kernkit::simulator::ptx
