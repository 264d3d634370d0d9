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

/// A simulated device. The defaults describe an H100 (sm_90) with 1 GiB of memory.
struct CudaDevice {
  int compute_capability = 90;                   ///< compute capability, 90 for sm_90
  int sm_count = 132;                            ///< number of streaming multiprocessors (SMs)
  size_t memory = size_t{1} << 30;               ///< memory of the device [bytes]
  int shared_memory_per_block_opt_in = 232448;   ///< maximum shared memory per block [bytes]
  int max_grid[3] = {2147483647, 65535, 65535};  ///< maximum grid size in x, y and z [blocks]
};

/// A call of the runtime's or the driver's API, recorded by CudaRuntime.
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

  /// Returns a copy of argument `i`, counted from 0. Requires that T is trivially copyable and is
  /// the type of the kernel's parameter; only the size is checked. Throws std::out_of_range if the
  /// launch has no argument `i`, or if the argument does not have the size of T.
  template <class T>
  T argument(size_t i) const {
    const std::vector<unsigned char>& bytes = arguments.at(i);
    if (bytes.size() != sizeof(T)) throw std::out_of_range("argument and T have different sizes");
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

/// Kind of an error that CudaRuntime::plant() sets, as if earlier work had left the error.
enum class CudaFault {
  kPending,  ///< unread error of a failed call: only cudaGetLastError() returns the error
  kOnce,     ///< error of the next call that reaches the device while the device is current
  kSticky,   ///< error of every later call that reaches the device while the device is current
};

/// Controls the simulated runtime of this process, whose state the objects of this class share.
///
/// Kernels run only after run_kernels(true). Memory of the devices is memory of this process; under
/// AddressSanitizer the host may not access it. Work in a stream runs at once if the seed is 0, and
/// possibly later otherwise. Functions may be called from any thread, return copies, do not wait
/// for work that has not begun, and throw only std::bad_alloc unless stated.
class CudaRuntime {
 public:
  /// Resets the runtime and replaces its devices by `devices`, numbered from 0. Memory, streams,
  /// events and graphs become invalid, and work that has not begun does not run. Errors, records,
  /// plans and faults are deleted. Device 0 is current in every thread, the seed is 0, and kernels
  /// do not run. With an empty list, calls that reach a device return cudaErrorNoDevice. Only one
  /// object may exist at a time, and no other thread may call CUDA during the reset.
  explicit CudaRuntime(std::vector<CudaDevice> devices = {CudaDevice()});
  /// Resets the runtime, as the constructor does, to one device with the defaults of CudaDevice.
  /// Throws nothing.
  ~CudaRuntime();
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;

  /// Returns the calls of the runtime's and the driver's API since the reset or clear(), in the
  /// order in which they ended, except functions that read or describe an error, such as
  /// cudaGetLastError() and cudaGetErrorName(), and except the calls by which nvcc's code registers
  /// kernels.
  std::vector<CudaCall> calls() const;
  /// Returns the number of entries of calls() for a function such as "cudaMalloc"; 0 for an unknown
  /// name.
  size_t count(const std::string& function) const;
  /// Returns the launches that the runtime accepted since the reset or clear(), in order, including
  /// launches that were captured into a graph and launches whose kernels did not run. Launching a
  /// graph adds no launch.
  std::vector<CudaLaunch> launches() const;
  /// Deletes the records of calls and launches. Faults, planned failures and settings remain.
  /// Throws nothing.
  void clear();

  /// Plans that the k-th call of `function` from now on (1 is the next call) has no effect and
  /// returns `error`, which must not be cudaSuccess. An empty `function` means any function that
  /// calls() records. No call fails if k is below 1 or the name is unknown. Several plans may
  /// exist: the matching plans count a call in the order in which the plans were added, and the
  /// first plan that makes the call fail ends the counting of that call. A reset of the runtime
  /// deletes all plans.
  void fail(const std::string& function, int k, cudaError_t error);
  /// Plants `error` as if earlier work had left the error: with kPending as this thread's last
  /// error, with kOnce or kSticky on `device`. Replaces an error of the same kind there;
  /// cudaSuccess removes that error. Throws std::out_of_range for a device that does not exist,
  /// also with kPending.
  void plant(CudaFault fault, cudaError_t error, int device = 0);
  /// Sets the version that cudaDriverGetVersion() and cuDriverGetVersion() return, such as 12080
  /// for CUDA 12.8, or 0, with which NVIDIA's runtime reports that no driver is installed. The
  /// default is the version of the CUDA headers. cuGetProcAddress(), and cudaGetDriverEntryPoint()
  /// and its variant for a version, fail for an entry point of a CUDA version above `version`;
  /// other functions ignore the version. Throws nothing.
  void set_driver_version(int version);
  /// Sets whether kernels run when their stream reaches the launch, from now on. By default
  /// launches are only recorded. A CUDA thread runs until it waits for other threads, and a block
  /// until it waits for another block. Throws nothing.
  void run_kernels(bool run);
  /// Sets the seed for the order of blocks and threads and for the delay of streams, for later
  /// work. The same seed always gives the same order. With seed 0, the default, blocks and threads
  /// start in ascending order, and streams have no delay. A program with kernkit::simulator_main
  /// prints the seed if a test fails. If `spread` is true or the seed is 0, large PTX grids whose
  /// blocks do not access each other's memory run on all processors. Throws nothing.
  void set_seed(unsigned seed, bool spread = false);
  /// Returns the seed of set_seed(); 0 by default. Throws nothing.
  unsigned seed() const;
  /// Sets that later kernels with more than `grid` blocks run only `blocks` blocks, rounded down to
  /// a multiple of 9: equal groups at the start, the end and around each eighth of the grid. Such a
  /// launch is reported on stderr. With `blocks` below 9 or `grid` 0, the default, or if a grid has
  /// no more than `blocks` blocks, all blocks run. The function is meant for tensors of 2^32
  /// elements: allocations of 256 MiB and more occupy only the pages that are accessed, and are
  /// filled with 0 instead of the byte of set_poison(). Throws nothing.
  void sample_blocks(uint64_t grid, unsigned blocks);
  /// Sets the byte that fills memory allocated from now on, and local memory of later kernels; 0xcd
  /// by default. A result that changes with the byte depends on uninitialised memory. Shared memory
  /// is filled with byte ^ 0x5a. Throws nothing.
  void set_poison(unsigned char byte);
  /// Sets whether later kernels compiled by nvcc add in mma and wgmma as the tensor cores of the
  /// device's compute capability do: with fewer bits, in groups of products. The default, false,
  /// adds exact products in float. Throws nothing.
  void set_device_summation(bool on);
  /// Sets the time without progress after which a kernel is stopped with a fault [s], for kernels
  /// that begin later. The time is 20 by default and must be positive, which is not checked.
  /// Progress means that a CUDA thread starts, ends, synchronises at a barrier or a warp function,
  /// or changes memory by an atomic; a kernel in which threads neither start nor end is stopped
  /// after 15 times as long. Time in which other processes use the processor does not count. A
  /// kernel compiled for fibers that cannot be stopped, such as a loop on plain memory, aborts the
  /// process after 1.5 * `seconds` + 0.5 s without progress, or after 15 times as long if threads
  /// synchronise or change memory but neither start nor end; this time includes the time of other
  /// processes. A wait of the host for a function of cudaLaunchHostFunc() ends with a fault after
  /// `seconds`. Throws nothing.
  void set_watchdog(double seconds);
  /// Returns the faults since the reset, in order: errors of kernels, such as "scale: block [0, 0,
  /// 0], thread [7, 0, 0]: ...", and of calls with invalid or unsupported arguments, each of which
  /// was also printed to stderr. After a fault of a kernel, calls that reach the kernel's device
  /// return the error of the fault, such as cudaErrorIllegalAddress, cudaErrorAssert or
  /// cudaErrorLaunchFailure. Does not wait: synchronise the device first.
  std::vector<std::string> faults() const;
  /// Returns the number of races that ThreadSanitizer reported since the reset; 0 in a program
  /// built without ThreadSanitizer. Under ThreadSanitizer, a CUDA thread takes some hundred times
  /// as long. Throws nothing.
  size_t races() const;

  /// Returns the numbers of allocations, streams, events and graphs (including executable graphs)
  /// that exist on all devices, such as "2 allocations, 1 stream"; "" if none exist.
  std::string live() const;
  /// Returns the memory of the device in use by allocations, without unused memory of memory pools
  /// [bytes]. Throws std::out_of_range for a device that does not exist, and nothing else.
  size_t used_memory(int device = 0) const;
};

}  // namespace kernkit::simulator

extern "C" {
/// Closes `size` bytes at `memory`, in one allocation of the runtime, to kernels from this point of
/// the stream on, until kernkit_open_to_kernels(). An access by a PTX kernel is then a fault;
/// AddressSanitizer reports an access by a kernel compiled for fibers. (AddressSanitizer misses up
/// to 7 bytes before the end of a range that ends between two multiples of 8.) Copies and memsets
/// may access the bytes. Does nothing if `memory` is in no allocation at this point of the stream.
/// Returns without waiting. Any thread may call the function, which throws only std::bad_alloc, and
/// does nothing if the stream rejects work.
void kernkit_close_to_kernels(const void* memory, size_t size, cudaStream_t stream);
/// Opens the whole allocation around `memory` to kernels, from this point of the stream on. Does
/// nothing if `memory` is in no allocation at this point of the stream. Returns without waiting.
/// Any thread may call the function, which throws only std::bad_alloc, and does nothing if the
/// stream rejects work.
void kernkit_open_to_kernels(const void* memory, cudaStream_t stream);
}
