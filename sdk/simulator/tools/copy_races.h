// SPDX-License-Identifier: Apache-2.0
// CallRaces: copies, fills and frees by calls of the runtime that nothing orders with kernels, or
// with each other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/findings.h"
#include "tools/global_cells.h"

namespace kernkit::simulator::ptx {

/// A call of the runtime that gave a stream work.
struct CallOnStream {
  const char* function;
  unsigned stream;  // as they were first given work; 0: a default stream
  bool in_graph;
};

/// Work that a call gave a stream, while it runs.
class CallRaces {
 public:
  /// From here on each has one.
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
  Range range_;                  // the allocation
  std::set<uint32_t> reported_;  // instructions
  RacesFound races_;
};

}  // namespace kernkit::simulator::ptx
