// SPDX-License-Identifier: Apache-2.0
// CudaRuntime: CUDA on the CPU, with as many devices as the test asks for and none in the machine.
// Link kernkit::simulator in place of NVIDIA's runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// A device of CUDA on the CPU.
struct CudaDevice {
  int compute_capability = 90;  // sm_90
  int sm_count = 132;
  size_t memory = size_t{1} << 30;              // bytes
  int shared_memory_per_block_opt_in = 232448;  // bytes
  int max_grid[3] = {2147483647, 65535, 65535};
};

/// A call of the runtime.
struct CudaCall {
  std::string function;  // "cudaSetDevice"
  cudaError_t result;
  int device;  // current when it was made
};

/// A kernel launch: recorded when it was accepted.
struct CudaLaunch {
  std::string kernel;  // as C++ writes it; "" in a program that was stripped
  dim3 grid;
  dim3 block;
  size_t shared_memory;  // dynamic, bytes
  cudaStream_t stream;
  int device;  // current at the launch
  dim3 cluster;
  bool cooperative;
  bool overlaps_previous;
  bool captured;  // became a node of a graph
  // The bytes of each argument; none for a structure in a launch compiled by nvcc, which does not
  // say its size.
  std::vector<std::vector<unsigned char>> arguments;

  /// Argument `i`; std::out_of_range unless it has the size of T.
  template <class T>
  T argument(size_t i) const {
    const std::vector<unsigned char>& bytes = arguments.at(i);
    if (bytes.size() != sizeof(T)) throw std::out_of_range("the argument has another size");
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

/// What work on a device left behind, see CudaRuntime::plant().
enum class CudaFault {
  kPending,  // a failed call's error that nobody asked for: only cudaGetLastError() returns it
  kOnce,     // the next call that reaches the device returns it
  kSticky,   // every later call that reaches the device returns it
};

/// The runtime of this process as a test wants it. Constructing one starts anew: devices without
/// memory in use, device 0 current in every thread, nothing recorded, nothing planted. Calls from
/// several threads are recorded in some order.
///
/// Kernels do not run, unless run_kernels() says so. Memory of the devices is memory of this
/// process; under AddressSanitizer the host may not touch it. Work on streams is done at once, or,
/// with a seed, later.
class CudaRuntime {
 public:
  explicit CudaRuntime(std::vector<CudaDevice> devices = {CudaDevice()});
  ~CudaRuntime();
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;

  /// The calls so far, in order; without cudaGetLastError, cudaGetErrorName and the like, and
  /// without what nvcc's code calls to register its kernels.
  std::vector<CudaCall> calls() const;
  /// How often `function` was called.
  size_t count(const std::string& function) const;
  std::vector<CudaLaunch> launches() const;
  /// Forgets calls and launches, nothing else.
  void clear();

  /// Lets the k-th call from now on (1: the next) of `function` fail with `error` and do nothing;
  /// `function` "" is any function that calls() shows.
  void fail(const std::string& function, int k, cudaError_t error);
  /// Leaves `error` behind in this thread (kPending) or on `device`.
  void plant(CudaFault fault, cudaError_t error, int device = 0);
  /// What cudaDriverGetVersion() says; 0 without a driver.
  void set_driver_version(int version);
  /// From now on kernels that were compiled for the CPU run, on the CPU. A CUDA thread runs until
  /// it waits for others; a block runs until it waits for another.
  void run_kernels(bool run);
  /// In which order blocks and threads run, and how far streams lag behind the host; 0: blocks and
  /// threads start in their order, and streams do not lag.
  /// A program with kernkit::simulator_main prints the seed where a test fails.
  /// `spread`: of PTX, large grids whose blocks cannot see each other run on all processors.
  void set_seed(unsigned seed, bool spread = false);
  unsigned seed() const;
  /// Of a grid of more than `grid` blocks only `blocks` run, at least 9: at its start, its end, and
  /// every eighth between. For tensors of 2^32 elements: of allocations of 256 MiB and more only
  /// what is touched exists, and it is zero, not filled with the poison. `grid` 0: all run, always.
  void sample_blocks(uint64_t grid, unsigned blocks);
  /// What fills new memory: a result that changes with it was computed from memory that nobody
  /// wrote. Shared memory is filled as well, with another byte.
  void set_poison(unsigned char byte);
  /// For how long a kernel may stand still before it is stopped, or else the process: 20 seconds.
  /// It goes on when a thread begins, ends, meets others at a barrier or a function of its warp, or
  /// changes memory by an atomic; when none begins or ends, for 15 times as long.
  /// As long may a function that cudaLaunchHostFunc() was given run while it is waited for.
  void set_watchdog(double seconds);
  /// What kernels did wrong: "scale: block [0, 0, 0], thread [7, 0, 0]: ...". It was written to
  /// stderr as well, and further calls that reach the device return cudaErrorLaunchFailure.
  std::vector<std::string> faults() const;
  /// How many races between CUDA threads ThreadSanitizer reported; 0 in a program built without it.
  /// With it threads cost some hundred times as much: for small grids.
  size_t races() const;

  /// What was created and not yet released: "2 allocations, 1 stream", "" when nothing.
  std::string live() const;
  /// Bytes of device memory in use by allocations, without what memory pools keep unused.
  size_t used_memory(int device = 0) const;
};

}  // namespace kernkit::simulator

extern "C" {
/// From here on in the stream kernels may not touch these bytes of an allocation: AddressSanitizer
/// reports it. (It knows of each 8 bytes how many of the first may be touched: where what is closed
/// ends between two multiples of 8, up to 7 bytes in front of that stay open.) Copies and memsets
/// may. Without AddressSanitizer nothing is closed.
void kernkit_close_to_kernels(const void* memory, size_t size, cudaStream_t stream);
/// From here on in the stream they may touch all of the allocation that `memory` lies in.
void kernkit_open_to_kernels(const void* memory, cudaStream_t stream);
}
