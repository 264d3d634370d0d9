// SPDX-License-Identifier: Apache-2.0
// Counting: what kernels that nvcc compiled ask of memory, the same number in every run. Counted is
// their PTX: machine code may join what PTX asks for in two steps. See docs/running-ptx.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// What warps asked of global memory. A request is an instruction of a warp.
struct GlobalTraffic {
  uint64_t requests = 0;
  uint64_t lanes = 0;           // that took part
  uint64_t bytes = 0;           // that they asked for, together
  uint64_t sectors = 0;         // of 32 bytes, that were moved
  uint64_t fewest_sectors = 0;  // if a request's bytes lay one behind the other from its first on
  uint64_t unique_sectors = 0;  // of a launch, however often it moved them; of a kernel only

  uint64_t moved_bytes() const { return 32 * sectors; }
  /// Of the sectors moved, as a share of those needed: 0 is best, a stride is 7 of 4-byte loads.
  double excess() const {
    return fewest_sectors == 0 ? 0 : static_cast<double>(sectors) / fewest_sectors - 1;
  }
  /// Requests over those that 16 bytes a lane take: 1 is best, scalar loads of float are 4.
  double requests_ratio() const { return bytes == 0 ? 0 : 512.0 * requests / bytes; }
};

/// What warps asked of shared memory: in a wavefront each of 32 banks gives one word of 4 bytes.
struct SharedTraffic {
  uint64_t requests = 0;
  uint64_t lanes = 0;
  uint64_t bytes = 0;
  uint64_t wavefronts = 0;
  uint64_t fewest_wavefronts = 0;  // that as many words take
};

struct LocalTraffic {
  uint64_t requests = 0, lanes = 0, bytes = 0;
};

struct Counters {
  GlobalTraffic loads, stores, atomics;
  SharedTraffic shared_loads, shared_stores, shared_atomics;
  LocalTraffic local;     // loads and stores of what has no register
  uint64_t steps = 0;     // PTX instructions of warps but for branches, barriers and exits
  uint64_t of_lanes = 0;  // lanes that took part in them: 32 of each where nothing diverges
};

struct LineCounters {
  /// "scale.cu:12", or "pack.h:3 (inlined at row.h:7, scale.cu:12)" with every call site; "" when
  /// unknown.
  std::string place;
  std::string file;  // as nvcc knows it
  int line = 0;
  Counters counters;
};

struct LaunchShape {
  uint64_t threads, dynamic_shared_bytes;  // of a block
  uint64_t launches;
};

struct KernelCounters {
  std::string kernel;  // as C++ writes it
  uint64_t launches = 0;
  Counters counters;
  uint64_t unique_sectors = 0;      // of a launch, whatever it did there; of all launches the sum
  std::vector<LineCounters> lines;  // by file and line
  std::vector<LaunchShape> shapes;  // of the launches
};

/// What all launches of a kernel may do to global memory, for tensors of many sectors.
struct TrafficBudget {
  uint64_t read, written;                 // bytes that lanes ask for, by the op's formula
  int load_bytes = 16, store_bytes = 16;  // a lane
  uint64_t arrays_read = 0;               // their bytes, where the op reads some of them again
};

/// "" or what is over the budget, and the line that has most of it. Loads and stores each may ask
/// for 1.01 of their bytes, move 1.01 of the sectors needed, touch 1.01 of the arrays' sectors, and
/// make 1.05 of the requests needed.
std::string over_budget(const KernelCounters& kernel, const TrafficBudget& budget);

/// Counts what kernels do that are launched while it lives. A program that uses it links
/// kernkit::simulator_ptx. Blocks that see each other's memory run on one processor then.
class Counting {
 public:
  Counting();
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  /// Of each kernel that was launched since, by name: it waits for the current device.
  std::vector<KernelCounters> kernels() const;
  /// Of the only kernel; std::logic_error where none or several did.
  KernelCounters kernel() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of a call, which launches one kernel:
///
///     EXPECT_EQ(over_budget({n * d * s, n * d * s}, [&] { softmax(y, x); }), "");
template <class Call>
std::string over_budget(const TrafficBudget& budget, const Call& call) {
  const Counting counting;
  call();
  return over_budget(counting.kernel(), budget);
}

}  // namespace kernkit::simulator
