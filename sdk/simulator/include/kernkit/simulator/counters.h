// SPDX-License-Identifier: Apache-2.0
// Counting: memory traffic of kernels that nvcc compiled, the same in every run. The counters count
// PTX instructions; machine code may merge two of them. See docs/tools.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// Traffic of warps to global memory. A request is one instruction of a warp with at least one
/// active lane. A sector has 32 bytes (Nsight Compute Profiling Guide, Metrics). No function
/// throws.
struct GlobalTraffic {
  uint64_t requests = 0;        ///< instructions of warps that access global memory
  uint64_t lanes = 0;           ///< active lanes, over all requests
  uint64_t bytes = 0;           ///< bytes requested by all lanes
  uint64_t sectors = 0;         ///< sectors moved [32 bytes]
  uint64_t fewest_sectors = 0;  ///< sectors if the bytes of each request were contiguous
  uint64_t unique_sectors = 0;  ///< distinct sectors of each launch; only set for a kernel

  /// Returns the size of the moved sectors, 32 bytes each [bytes].
  uint64_t moved_bytes() const { return 32 * sectors; }
  /// Returns the sectors moved in excess, as a share of the sectors needed: 0 is best; 4-byte loads
  /// with a stride of 32 bytes or more have 7. 0 without traffic.
  double excess() const {
    return fewest_sectors == 0 ? 0 : static_cast<double>(sectors) / fewest_sectors - 1;
  }
  /// Returns the requests relative to accesses of 16 bytes a lane: 1 is best; scalar loads of float
  /// have 4. 0 without traffic.
  double requests_ratio() const { return bytes == 0 ? 0 : 512.0 * requests / bytes; }
};

/// Traffic of warps to shared memory. A wavefront accesses at most one 4-byte word in each of 32
/// banks (CUDA C++ Programming Guide, Shared Memory).
struct SharedTraffic {
  uint64_t requests = 0;           ///< instructions of warps that access shared memory
  uint64_t lanes = 0;              ///< active lanes, over all requests
  uint64_t bytes = 0;              ///< bytes requested by all lanes
  uint64_t wavefronts = 0;         ///< wavefronts with the bank conflicts of the addresses
  uint64_t fewest_wavefronts = 0;  ///< wavefronts without bank conflicts
};

/// Traffic of warps to local memory, as written in PTX: without the spills of ptxas.
struct LocalTraffic {
  uint64_t requests = 0,  ///< instructions of warps that access local memory
      lanes = 0,          ///< active lanes, over all requests
      bytes = 0;          ///< bytes requested by all lanes
};

/// The counters of some PTX instructions: those of a kernel, or of a source line.
struct Counters {
  GlobalTraffic loads,         ///< loads of global memory
      stores,                  ///< stores to global memory
      atomics;                 ///< atomics and reductions in global memory
  SharedTraffic shared_loads,  ///< loads of shared memory
      shared_stores,           ///< stores to shared memory
      shared_atomics;          ///< atomics and reductions in shared memory
  LocalTraffic local;          ///< loads and stores of local memory
  uint64_t steps = 0;          ///< PTX instructions of warps, except branches, barriers and exits
  uint64_t of_lanes = 0;       ///< active lanes of these instructions: 32 each without divergence
};

/// The counters of one source line, for each chain of call sites by which the line was inlined.
struct LineCounters {
  /// "scale.cu:12", or "pack.h:3 (inlined at row.h:7, scale.cu:12)" with every call site; "" when
  /// unknown.
  std::string place;
  std::string file;   ///< path in the PTX
  int line = 0;       ///< line number, from 1; 0 when unknown
  Counters counters;  ///< counters of the line's instructions
};

/// The launches of a kernel with blocks of one size.
struct LaunchShape {
  uint64_t threads,          ///< threads of each block
      dynamic_shared_bytes;  ///< dynamic shared memory of each block [bytes]
  uint64_t launches;         ///< number of these launches
};

/// The counters of a kernel, over all its launches.
struct KernelCounters {
  std::string kernel;               ///< C++ name of the kernel
  uint64_t launches = 0;            ///< number of launches
  Counters counters;                ///< counters of all the kernel's instructions
  uint64_t unique_sectors = 0;      ///< distinct sectors of each launch, summed over the launches
  std::vector<LineCounters> lines;  ///< counters by file and line
  std::vector<LaunchShape> shapes;  ///< launches by the size of blocks
};

/// Limits for the global traffic of all launches of a kernel, for tensors of many sectors.
struct TrafficBudget {
  uint64_t read,         ///< bytes that all lanes load, by the op's formula
      written;           ///< bytes that all lanes store, by the op's formula
  int load_bytes = 16,   ///< bytes of one load of a lane
      store_bytes = 16;  ///< bytes of one store of a lane
  /// Size of the arrays, if some bytes are read twice [bytes]; 0 means `read`.
  uint64_t arrays_read = 0;
};

/// Returns the exceeded limit and the line with the largest share, "scale_kernel: loads: makes 64,
/// expected at most 17 requests (scale.cu:20)", or "". Loads and stores may each request 1.01 times
/// their bytes, move 1.01 times the sectors needed, access 1.01 times the sectors of the arrays,
/// and make 1.05 times the requests needed. Atomics have no limit. Throws only std::bad_alloc.
std::string over_budget(const KernelCounters& kernel, const TrafficBudget& budget);

/// Counts the traffic of kernels that are launched during its lifetime. The program links
/// kernkit::simulator_ptx. Blocks that access each other's memory then run on one processor.
/// Several objects count independently.
class Counting {
 public:
  /// Begins to count the kernels that are launched from now on, in every thread and on every
  /// device, from 0.
  Counting();
  /// Ends counting. With no other tool, later kernels run without instrumentation.
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  /// Returns a copy of the counters of each kernel that ran so far, ordered by name. Waits for the
  /// current device only; an error of the device stays set for the caller. Throws only
  /// std::bad_alloc.
  std::vector<KernelCounters> kernels() const;
  /// Returns a copy of the counters of the only kernel, after the wait of kernels(). Throws
  /// std::logic_error if none or several ran.
  KernelCounters kernel() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Makes the call, waits for the current device, and returns the exceeded limit of the one kernel
/// that the call launches, or "", as over_budget() does for counters. Throws std::logic_error if
/// the call launches no kernel or several, and the exceptions of `call`.
///
///     EXPECT_EQ(over_budget({n * d * s, n * d * s}, [&] { softmax(y, x); }), "");
template <class Call>
std::string over_budget(const TrafficBudget& budget, const Call& call) {
  const Counting counting;
  call();
  return over_budget(counting.kernel(), budget);
}

}  // namespace kernkit::simulator
