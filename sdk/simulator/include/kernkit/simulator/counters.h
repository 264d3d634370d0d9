// SPDX-License-Identifier: Apache-2.0
// Counting: memory traffic of kernels that nvcc compiled, the same in every run. The counters count
// PTX instructions; machine code may merge two of them. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Traffic of warps to global memory. A request is one instruction of a warp.
struct GlobalTraffic {
  uint64_t requests = 0;
  uint64_t lanes = 0;           // active lanes, over all requests
  uint64_t bytes = 0;           // bytes requested by all lanes
  uint64_t sectors = 0;         // sectors moved [32 bytes]
  uint64_t fewest_sectors = 0;  // sectors if the bytes of each request were contiguous
  uint64_t unique_sectors = 0;  // distinct sectors of each launch; only set for a kernel

  uint64_t moved_bytes() const { return 32 * sectors; }
  /// Sectors moved in excess, as a share of the sectors needed: 0 is best; 4-byte loads with a
  /// large stride have 7.
  double excess() const {
    return fewest_sectors == 0 ? 0 : static_cast<double>(sectors) / fewest_sectors - 1;
  }
  /// Requests relative to accesses of 16 bytes a lane: 1 is best; scalar loads of float have 4.
  double requests_ratio() const { return bytes == 0 ? 0 : 512.0 * requests / bytes; }
};

/// Traffic of warps to shared memory. A wavefront reads at most one 4-byte word from each of 32
/// banks.
struct SharedTraffic {
  uint64_t requests = 0;
  uint64_t lanes = 0;
  uint64_t bytes = 0;
  uint64_t wavefronts = 0;
  uint64_t fewest_wavefronts = 0;  // wavefronts without bank conflicts
};

struct LocalTraffic {
  uint64_t requests = 0, lanes = 0, bytes = 0;
};

struct Counters {
  GlobalTraffic loads, stores, atomics;
  SharedTraffic shared_loads, shared_stores, shared_atomics;
  LocalTraffic local;     // loads and stores of local memory
  uint64_t steps = 0;     // PTX instructions of warps, except branches, barriers and exits
  uint64_t of_lanes = 0;  // active lanes of these instructions: 32 each without divergence
};

struct LineCounters {
  /// "scale.cu:12", or "pack.h:3 (inlined at row.h:7, scale.cu:12)" with every call site; "" when
  /// unknown.
  std::string place;
  std::string file;  // path in the PTX
  int line = 0;
  Counters counters;
};

struct LaunchShape {
  uint64_t threads, dynamic_shared_bytes;  // threads and dynamic shared memory of each block
  uint64_t launches;
};

struct KernelCounters {
  std::string kernel;  // C++ name of the kernel
  uint64_t launches = 0;
  Counters counters;
  uint64_t unique_sectors = 0;      // distinct sectors of each launch, summed over the launches
  std::vector<LineCounters> lines;  // counters by file and line
  std::vector<LaunchShape> shapes;  // block shapes of the launches
};

/// Limits for the global traffic of all launches of a kernel, for tensors of many sectors.
struct TrafficBudget {
  uint64_t read, written;                 // bytes requested by all lanes, by the op's formula
  int load_bytes = 16, store_bytes = 16;  // bytes of one access of a lane
  uint64_t arrays_read = 0;  // size of the arrays, if some bytes are read twice; 0 means `read`
};

/// Returns the exceeded limit and the line with the largest share, or "". Loads and stores may each
/// request 1.01 times their bytes, move 1.01 times the sectors needed, access 1.01 times the
/// sectors of the arrays, and make 1.05 times the requests needed.
std::string over_budget(const KernelCounters& kernel, const TrafficBudget& budget);

/// Counts the traffic of kernels that are launched during its lifetime. The program links
/// kernkit::simulator_ptx. Blocks that access each other's memory then run on one processor.
class Counting {
 public:
  Counting();
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  /// The counters of each kernel launched so far, by name. Waits for the current device.
  std::vector<KernelCounters> kernels() const;
  /// The counters of the only kernel. Throws std::logic_error if none or several were launched.
  KernelCounters kernel() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Checks a call that launches one kernel:
///
///     EXPECT_EQ(over_budget({n * d * s, n * d * s}, [&] { softmax(y, x); }), "");
template <class Call>
std::string over_budget(const TrafficBudget& budget, const Call& call) {
  const Counting counting;
  call();
  return over_budget(counting.kernel(), budget);
}

}  // namespace kernkit::simulator
