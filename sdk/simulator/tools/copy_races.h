// SPDX-License-Identifier: Apache-2.0
// CallRaces: the part of racecheck for calls. Reports copies, fills and frees by calls of the
// runtime that are unordered with kernels or with other calls.
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
  unsigned stream;  // number in the order of the streams' first work; 0 for a default stream
  bool in_graph;
  const char* place;  // call site in the program; "" if unknown
};

/// Reports races of the work that a runtime call enqueued, while this work runs.
class CallRaces {
 public:
  /// Starts to check the work of every call.
  static void keep();
  /// Stops recording the order of work and removes the recorded accesses, so that the checks of a
  /// later keep() start without earlier accesses.
  static void forget();

  CallRaces(const CallOnStream& call, std::vector<RaceLedger*> ledgers);
  ~CallRaces();
  CallRaces(const CallRaces&) = delete;
  CallRaces& operator=(const CallRaces&) = delete;
  void touch(CallAccess access, const void* at, size_t bytes);

 private:
  void touch(RaceCell* cell, uint32_t access_id, uint64_t address);
  bool races(uint32_t access_id) const;
  void report(uint32_t access_id, uint32_t id_now, uint64_t address);

  std::vector<RaceLedger*> ledgers_;
  GlobalCells& cells_;
  std::string name_;
  uint32_t launch_;
  Range range_;                  // allocation that contains the last access
  std::set<uint32_t> reported_;  // records of earlier accesses with a reported race
  RaceCounts races_;
};

}  // namespace kernkit::simulator::ptx
