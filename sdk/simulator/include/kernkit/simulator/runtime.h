// SPDX-License-Identifier: Apache-2.0
// CudaRuntime: the simulated CUDA runtime, with as many devices as a test requests. Link
// kernkit::simulator in place of NVIDIA's runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernkit::simulator {

/// A simulated device. The defaults are those of an H100 (sm_90), with 1 GiB of memory.
struct CudaDevice {
  int compute_capability = 90;                   ///< compute capability, 90 for sm_90
  int sm_count = 132;                            ///< number of streaming multiprocessors (SMs)
  size_t memory = size_t{1} << 30;               ///< memory of the device [bytes]
  int shared_memory_per_block_opt_in = 232448;   ///< maximum shared memory per block [bytes]
  int max_grid[3] = {2147483647, 65535, 65535};  ///< maximum grid size in x, y and z [blocks]
};

/// A call of the CUDA runtime, recorded by CudaRuntime.
struct CudaCall {
  std::string function;  ///< name of the function, such as "cudaSetDevice"
  cudaError_t result;    ///< returned error; cudaSuccess for a call that succeeded
  int device;            ///< number of the device that was current when the function was called
};

/// A kernel launch that the runtime accepted, recorded by CudaRuntime.
struct CudaLaunch {
  std::string kernel;      ///< C++ name of the kernel; "" in a stripped program
  dim3 grid;               ///< size of the grid [blocks]
  dim3 block;              ///< size of a block [threads]
  size_t shared_memory;    ///< dynamic shared memory [bytes]
  cudaStream_t stream;     ///< stream of the launch; null for the legacy default stream
  int device;              ///< current device at the launch
  dim3 cluster;            ///< size of a cluster [blocks]; 1, 1, 1 without clusters
  bool cooperative;        ///< whether the launch is cooperative: all blocks run at the same time
  bool overlaps_previous;  ///< whether the kernel may start before the previous kernel ends
  bool captured;           ///< whether the launch became a node of a graph
  /// The bytes of each argument. Empty for a structure of unknown size: nvcc compiled the kernel,
  /// and the simulator has not read its PTX.
  std::vector<std::vector<unsigned char>> arguments;

  /// Returns a copy of argument `i`, counted from 0; T must be trivially copyable. Throws
  /// std::out_of_range if the launch has no argument `i`, or if the argument does not have the size
  /// of T.
  template <class T>
  T argument(size_t i) const {
    const std::vector<unsigned char>& bytes = arguments.at(i);
    if (bytes.size() != sizeof(T)) throw std::out_of_range("argument and T have different sizes");
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

/// An error that earlier work left on a device, see CudaRuntime::plant().
enum class CudaFault {
  kPending,  ///< unread error of a failed call: only cudaGetLastError() returns the error
  kOnce,     ///< error of the next call that reaches the device
  kSticky,   ///< error of every later call that reaches the device
};

/// Controls the simulated runtime of this process. Calls from several threads are recorded in some
/// order.
///
/// Kernels run only after run_kernels(true). Memory of the devices is memory of this process; under
/// AddressSanitizer the host may not access it. Work in a stream runs at once if the seed is 0, and
/// possibly later otherwise. Functions may be called from any thread, return copies, do not wait
/// for kernels that have not begun, and throw nothing but std::bad_alloc unless stated.
class CudaRuntime {
 public:
  /// Resets the runtime to these devices: without memory in use, device 0 current in every thread,
  /// no records, no planted errors, seed 0, kernels not run. An empty list means no devices: calls
  /// that reach a device then return cudaErrorNoDevice. Use one object at a time.
  explicit CudaRuntime(std::vector<CudaDevice> devices = {CudaDevice()});
  /// Resets the runtime to one device with the defaults of CudaDevice. Streams, events, graphs and
  /// memory become invalid; work that has not begun does not run.
  ~CudaRuntime();
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;

  /// Returns the calls since the reset or clear(), in order. Calls that only read or describe an
  /// error, such as cudaGetLastError(), and calls by which nvcc's code registers kernels are not
  /// included.
  std::vector<CudaCall> calls() const;
  /// Returns the number of calls of `function`, such as "cudaMalloc", among calls(); 0 for an
  /// unknown name.
  size_t count(const std::string& function) const;
  /// Returns the accepted launches since the reset or clear(), in order, including launches of
  /// kernels that did not run.
  std::vector<CudaLaunch> launches() const;
  /// Deletes the records of calls and launches. Faults, planned failures and settings remain.
  void clear();

  /// Makes the k-th call of `function` from now on (1 is the next call) fail with `error` without
  /// effect. An empty `function` means any function that calls() records. Several such plans may
  /// exist; a reset deletes all plans. If k is below 1, no call fails.
  void fail(const std::string& function, int k, cudaError_t error);
  /// Plants `error` in this thread (kPending) or on `device`, as if earlier work had left the
  /// error; it replaces an error planted there before. Throws std::out_of_range for a device that
  /// does not exist, also with kPending.
  void plant(CudaFault fault, cudaError_t error, int device = 0);
  /// Sets the result of cudaDriverGetVersion(), such as 12080 for CUDA 12.8; 0 means no driver. The
  /// default is the version of the CUDA headers.
  void set_driver_version(int version);
  /// Sets whether launched kernels run from now on. By default launches are only recorded. A CUDA
  /// thread runs until it waits for other threads, and a block until it waits for another block.
  void run_kernels(bool run);
  /// Sets the seed for the order of blocks and threads and for the delay of streams, from the next
  /// work on. With seed 0, the default, blocks and threads start in ascending order, and streams
  /// have no delay. A program with kernkit::simulator_main prints the seed if a test fails. If
  /// `spread` is true or the seed is 0, large PTX grids whose blocks do not access each other's
  /// memory run on all processors.
  void set_seed(unsigned seed, bool spread = false);
  /// Returns the seed of set_seed(); 0 by default.
  unsigned seed() const;
  /// Limits a grid of more than `grid` blocks to `blocks` blocks, rounded down to a multiple of 9:
  /// a ninth each at the start, at the end and at each eighth of the grid. All blocks run if
  /// `blocks` is below 9 or `grid` is 0. Meant for tensors of 2^32 elements: allocations of 256 MiB
  /// and more occupy only the pages that are accessed, which are zero instead of poisoned.
  void sample_blocks(uint64_t grid, unsigned blocks);
  /// Sets the byte that fills memory allocated from now on, 0xcd by default: a result that changes
  /// with the byte depends on uninitialised memory. Shared memory is filled with another byte.
  void set_poison(unsigned char byte);
  /// Sets the time without progress after which a kernel is stopped [s]; 20 by default. If the
  /// kernel cannot be stopped, the process is. Time in which other processes use the processor does
  /// not count for a kernel. Progress means that a thread starts, ends, synchronises at a barrier
  /// or a warp function, or changes memory by an atomic. If no thread starts or ends, the limit is
  /// 15 times as long. The time also limits a function of cudaLaunchHostFunc() while the host waits
  /// for the function.
  void set_watchdog(double seconds);
  /// Returns the faults since the reset, in order: errors of kernels, such as "scale: block [0, 0,
  /// 0], thread [7, 0, 0]: ...", and of calls with unsupported arguments. They were printed to
  /// stderr. After a fault of a kernel, calls that reach its device return the error of the fault,
  /// such as cudaErrorIllegalAddress, cudaErrorAssert or cudaErrorLaunchFailure. Does not wait:
  /// synchronise the device first.
  std::vector<std::string> faults() const;
  /// Returns the number of races between CUDA threads that ThreadSanitizer reported since the
  /// reset; 0 in a program built without ThreadSanitizer, under which a CUDA thread takes some
  /// hundred times as long.
  size_t races() const;

  /// Returns the numbers of allocations, streams, events and graphs that exist on all devices, such
  /// as "2 allocations, 1 stream"; "" if none exist.
  std::string live() const;
  /// Returns the device memory that allocations use, without unused memory of pools [bytes]. Throws
  /// std::out_of_range for a device that does not exist.
  size_t used_memory(int device = 0) const;
};

}  // namespace kernkit::simulator

extern "C" {
/// Closes `size` bytes of an allocation to kernels, from this point of the stream on. An access by
/// a PTX kernel is then a fault; AddressSanitizer reports an access by another kernel.
/// (AddressSanitizer misses up to 7 bytes before the end of a range that ends between two multiples
/// of 8.) Copies and memsets may access the bytes. Does nothing if `memory` is in no allocation or
/// the stream rejects work. Enqueues and returns without waiting; throws nothing.
void kernkit_close_to_kernels(const void* memory, size_t size, cudaStream_t stream);
/// Opens the whole allocation around `memory` to kernels, from this point of the stream on. Does
/// nothing if `memory` is in no allocation or the stream rejects work. Enqueues and returns without
/// waiting; throws nothing.
void kernkit_open_to_kernels(const void* memory, cudaStream_t stream);
}
