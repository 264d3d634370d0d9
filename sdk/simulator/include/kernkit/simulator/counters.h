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
/// active lane. A sector has 32 bytes (Nsight Compute Profiling Guide, Metrics). The functions
/// throw nothing.
struct GlobalTraffic {
  uint64_t requests = 0;        ///< instructions of warps that access global memory
  uint64_t lanes = 0;           ///< active lanes, summed over all requests
  uint64_t bytes = 0;           ///< bytes requested by all lanes
  uint64_t sectors = 0;         ///< sectors moved [32 bytes]
  uint64_t fewest_sectors = 0;  ///< sectors that contiguous requests would move
  uint64_t unique_sectors = 0;  ///< distinct sectors, summed over launches; 0 in LineCounters

  /// Returns the number of bytes in the moved sectors.
  uint64_t moved_bytes() const { return 32 * sectors; }
  /// Returns the sectors moved in excess of `fewest_sectors`, divided by `fewest_sectors`: 0 is
  /// optimal, and 7 is the result for loads of 4 bytes by all lanes with a stride of 32 bytes or
  /// more. Returns 0 if there were no requests.
  double excess() const {
    return fewest_sectors == 0 ? 0 : static_cast<double>(sectors) / fewest_sectors - 1;
  }
  /// Returns the number of requests divided by the number of requests that would suffice if each of
  /// 32 lanes accessed 16 bytes: 1 is optimal, and 4 is the result for loads of 4 bytes by all
  /// lanes. Returns 0 if there were no requests.
  double requests_ratio() const { return bytes == 0 ? 0 : 512.0 * requests / bytes; }
};

/// Traffic of warps to shared memory. A wavefront accesses at most one 4-byte word in each of 32
/// banks (CUDA C++ Programming Guide, Shared Memory).
struct SharedTraffic {
  uint64_t requests = 0;           ///< instructions of warps that access shared memory
  uint64_t lanes = 0;              ///< active lanes, summed over all requests
  uint64_t bytes = 0;              ///< bytes requested by all lanes
  uint64_t wavefronts = 0;         ///< wavefronts, including wavefronts due to bank conflicts
  uint64_t fewest_wavefronts = 0;  ///< wavefronts that suffice without bank conflicts
};

/// Traffic of warps to local memory by PTX instructions. Register spills, which ptxas adds later,
/// are not counted.
struct LocalTraffic {
  uint64_t requests = 0,  ///< instructions of warps that access local memory
      lanes = 0,          ///< active lanes, summed over all requests
      bytes = 0;          ///< bytes requested by all lanes
};

/// The counters of the PTX instructions of a kernel, or of a source line.
struct Counters {
  GlobalTraffic loads,         ///< loads of global memory
      stores,                  ///< stores to global memory
      atomics;                 ///< atomics and reductions in global memory
  SharedTraffic shared_loads,  ///< loads of shared memory
      shared_stores,           ///< stores to shared memory
      shared_atomics;          ///< atomics and reductions in shared memory
  LocalTraffic local;          ///< loads and stores of local memory
  uint64_t steps = 0;          ///< PTX instructions of warps, except branches, barriers and exits
  uint64_t of_lanes = 0;  ///< active lanes, summed over `steps`: 32 per step without divergence
};

/// The counters of one source line. A line that is inlined through several chains of call sites has
/// one entry for each chain.
struct LineCounters {
  /// "scale.cu:12", or "pack.h:3 (inlined at row.h:7, scale.cu:12)" with every call site; "" when
  /// unknown.
  std::string place;
  std::string file;   ///< path of the source file, as in the PTX
  int line = 0;       ///< line number, from 1; 0 when unknown
  Counters counters;  ///< counters of the line's instructions
};

/// The launches of a kernel with the same block size and dynamic shared memory.
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
  std::vector<LaunchShape> shapes;  ///< launches by block size and shared memory
};

/// Limits for the global traffic of all launches of a kernel together. The limits are meant for
/// large tensors: a kernel on a small tensor can exceed a limit because of the partly used sectors
/// at the ends of the tensor.
struct TrafficBudget {
  uint64_t read,         ///< bytes that all lanes load, by the op's formula
      written;           ///< bytes that all lanes store, by the op's formula
  int load_bytes = 16,   ///< size of one load of a lane [bytes]
      store_bytes = 16;  ///< size of one store of a lane [bytes]
  /// Size of the arrays that are read [bytes], if some of their bytes are loaded repeatedly; 0
  /// means `read`.
  uint64_t arrays_read = 0;
};

/// Returns "" if the kernel exceeds no limit. Otherwise returns the first exceeded limit and the
/// source line that contributes most, such as "scale_kernel: loads: makes 64, expected at most 17
/// requests (scale.cu:20)". Loads are checked before stores, with the following limits in this
/// order. `bytes`: 1.01 times the bytes of the budget. `sectors`: 1.01 times `fewest_sectors`.
/// `requests`: 1.05 times the number of requests that suffice for the kernel's bytes if each of 32
/// lanes accesses `load_bytes` or `store_bytes`, which must be positive. `unique_sectors`: 1.01
/// times the sectors of the arrays. Atomics have no limit. Throws only std::bad_alloc.
std::string over_budget(const KernelCounters& kernel, const TrafficBudget& budget);

/// Counts the traffic of the PTX kernels that begin to run during the object's lifetime: a kernel
/// in a delayed stream may begin later than its launch. Requires that the program links
/// kernkit::simulator_ptx. Kernels whose blocks access each other's memory then run on one
/// processor. Several objects count independently. While an object is created or destroyed, no
/// kernel may run in another thread.
class Counting {
 public:
  /// Sets all counters to 0 and counts kernels that begin to run from now on, launched by any host
  /// thread on any device. Does not wait for earlier launches. Throws only std::bad_alloc.
  Counting();
  /// Ends counting, without waiting: kernels that were launched but have not begun are not counted.
  /// Kernels that begin later run without instrumentation unless another tool is in use. Throws
  /// nothing.
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  /// Waits for the current device, and not for other devices, and returns a copy of the counters of
  /// each kernel that has run, ordered by name. An error of the wait becomes the thread's last
  /// error. Throws only std::bad_alloc.
  std::vector<KernelCounters> kernels() const;
  /// Waits as kernels() does, and returns a copy of the counters of the only kernel, which may have
  /// been launched several times. Throws std::logic_error if no kernel ran or kernels of several
  /// names ran, and std::bad_alloc.
  KernelCounters kernel() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls `call()`, waits for the current device, and returns "" or the exceeded limit of the only
/// kernel that ran meanwhile, as over_budget() does for counters. Wait for earlier work before the
/// call: a kernel that was launched earlier and begins meanwhile is counted. Throws
/// std::logic_error if no kernel ran or kernels of several names ran, std::bad_alloc, and the
/// exceptions of `call`.
///
///     EXPECT_EQ(over_budget({n * d * s, n * d * s}, [&] { softmax(y, x); }), "");
template <class Call>
std::string over_budget(const TrafficBudget& budget, const Call& call) {
  const Counting counting;
  call();
  return over_budget(counting.kernel(), budget);
}

}  // namespace kernkit::simulator
