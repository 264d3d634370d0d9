// SPDX-License-Identifier: Apache-2.0
// The state of the simulator's runtime, and how each of its functions begins and ends.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "executor.h"
#include "hooks.h"
#include "kernkit/simulator/runtime.h"
#include "runtime/capture.h"
#include "runtime/pool.h"
#include "runtime/queue.h"
#include "schedule/schedule.h"

struct CUgraph_st {
  std::vector<kernkit::simulator::GraphNode> nodes;
};
struct CUgraphExec_st {
  std::vector<kernkit::simulator::GraphNode> nodes;  // flattened
  bool frees_on_launch = false;  // what its last launch allocated and no call has freed
  unsigned launches = 0;         // on streams; and how many of them have ended
  std::shared_ptr<unsigned> ended = std::make_shared<unsigned>(0);
};
struct CUstream_st {
  int device;
  bool non_blocking = false;
  kernkit::simulator::CapturePoint point;
  int priority = 0;
  unsigned long number = 0;  // in the order of all streams, from 1 on
};
struct CUevent_st {
  int device;
  bool timing;
  kernkit::simulator::CapturePoint point;  // in a capture when it was recorded there last
  unsigned records = 0;  // how often it was recorded, and how many of these were reached
  std::shared_ptr<unsigned> reached = std::make_shared<unsigned>(0);
  kernkit::simulator::TasksBefore before;  // the last record
  // When the host reached the last record [s].
  std::shared_ptr<double> time = std::make_shared<double>(0);
  bool happened() const { return *reached == records; }
};

namespace kernkit::simulator {

/// For which devices a fat binary has code.
struct ModuleInfo {
  std::vector<int> machine_code;  // compute capabilities
  std::vector<int> ptx;
};

struct Allocation {
  size_t size;
  int device;
  cudaMemoryType type;
  bool sparse;
  unsigned long number = 0;  // in the order of all allocations
  bool of_graph = false;     // memory of a graph, which keeps its address
  bool freed = false;        // by cudaFreeAsync(), which its stream has not reached
  bool registered = false;   // the program's own memory, by cudaHostRegister()
  std::shared_ptr<MemoryPool> pool = nullptr;  // that the memory is from; null without a pool
  bool held = false;    // of a graph: allocated by a launch and not freed, as the host has it
  bool live = true;     // of a graph: likewise, as the device has it
  bool counted = true;  // by its device or pool; false for memory of a graph that no instance has
  // The last launch of a graph that uses the memory: its queue, and how many launches of the
  // instance have ended after it.
  std::pair<int, cudaStream_t> queue = {};
  std::shared_ptr<const unsigned> ended = nullptr;
  unsigned launches = 0;
  // Ranges that kernels may not access, see kernkit_close_to_kernels().
  std::vector<std::pair<const char*, size_t>> closed = {};
  // The functions of the runtime that the program called to allocate and to free the memory.
  const char* allocated_by = "";
  const char* freed_by = "";
};

/// An allocation that was freed.
struct FreedMemory {
  size_t size;  // [bytes]
  const char *allocated_by, *freed_by;
};

struct Injection {
  std::string function;
  int left;
  cudaError_t error;
};

struct DeviceState {
  size_t used = 0;  // by allocations without a pool, and reserved by pools [bytes]
  std::shared_ptr<MemoryPool> default_pool, pool, graph_pool;
  unsigned flags = 0;  // by cudaSetDeviceFlags(): how the host waits
  cudaError_t once = cudaSuccess;
  cudaError_t sticky = cudaSuccess;
};

struct State {
  std::recursive_mutex mutex;
  unsigned long generation = 1;
  std::vector<CudaDevice> devices;
  std::vector<DeviceState> device_states;
  std::vector<CudaCall> calls;
  std::vector<CudaLaunch> launches;
  std::vector<Injection> injections;
  int driver_version = CUDART_VERSION;
  bool run_kernels = false;
  bool keeps_records = true;  // of calls and launches, for a test
  Settings settings;
  std::vector<std::string> faults;
  size_t races_before = 0;

  std::map<std::pair<int, cudaStream_t>, Queue> queues;
  TasksBefore waited;       // what the host waited for
  unsigned long tasks = 0;  // how many there were
  unsigned long allocated = 0;
  unsigned long streams_made = 0;
  uint64_t random_state = 0;
  /// Another number each time, from the seed; 0 without one.
  uint64_t random();

  std::map<void*, Allocation> allocations;
  std::set<std::shared_ptr<MemoryPool>> pools;  // made by the program, and those of the devices
  std::map<void*, FreedMemory> freed;           // until the addresses are used again
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::set<CUgraph_st*> graphs;
  std::set<CUgraphExec_st*> execs;

  // Registered once, at the start of the process.
  std::map<const void*, KernelInfo> kernels;
  std::map<void**, ModuleInfo> modules;

  void reset(std::vector<CudaDevice> new_devices);
};

/// What each thread has of its own.
struct ThreadState {
  unsigned long generation = 0;
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  const char* function = "";  // of the runtime, that it calls
  const char* entry = "";     // likewise, as the program called it
};

State& state();
const CudaDevice& current_device();
/// "9.0" for 90.
std::string capability_text(int compute_capability);
/// Null for a function that was neither registered nor described.
KernelInfo* find_kernel(const void* kernel);
/// The executor of a kernel; null if none runs the kernel.
KernelExecutor* executor_of(const KernelInfo& kernel);
const std::vector<KernelExecutor*>& executors();
/// Whether an address is in a variable of a module; the kind of the variable and its device.
bool is_variable(const void* address, cudaPointerAttributes* attributes);
/// The variable around an address.
bool find_variable(const void* address, VariableRange* variable);
/// Reads the attributes of a kernel for the current device. Reports why the kernel cannot run:
/// cudaErrorNoKernelImageForDevice without PTX for the device.
cudaError_t read_kernel(KernelInfo* kernel);
/// Reports a kernel whose address was cast to void*.
cudaError_t reject_launch_by_address(const void* kernel);
/// Resident blocks by threads and shared memory alone, the kernel's static shared memory included.
size_t blocks_per_sm(const KernelInfo& kernel, size_t threads, size_t shared_memory);
/// Memory of the process for an allocation; null if there is none left.
void* take_memory(const Allocation& allocation);
void give_back_memory(void* memory, const Allocation& allocation);
/// The allocation around an address; null for other memory.
const Allocation* allocation_of(const void* address);
/// Whether an address is one of those that only allocations have: outside of these it is freed
/// memory, or past an end. False for all where the C library allocates.
bool is_reserved(const void* address);
/// How many races ThreadSanitizer reported in this process.
size_t reported_races();
ThreadState& thread_state();
/// Tells threads apart.
unsigned long thread_number();

/// What a function does besides its work.
enum class Reach {
  kHost,    // queries or sets something in this process
  kDevice,  // reaches the current device: meets what is planted there
  kUnsafe,  // and is potentially unsafe while a stream is captured
};

/// Runs a function of the runtime: records it, fails when a test wants that, keeps its error.
cudaError_t call(const char* function, Reach reach, const std::function<cudaError_t()>& work);

/// Gives work to a stream, or captures it as a node of this kind.
cudaError_t enqueue(cudaStream_t stream, const Work& work, NodeKind kind = NodeKind::kEmpty);
cudaError_t enqueue(cudaStream_t stream, GraphNode node);
/// A copy on the default stream, which is done on return; and on any stream.
cudaError_t copy_and_wait(void* to, const void* from, size_t size, cudaMemcpyKind kind);
cudaError_t copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream);
/// Likewise of rows, which are `pitch` bytes apart.
struct Rows {
  size_t to_pitch, from_pitch, width, height;  // [bytes, bytes, bytes, rows]
};
cudaError_t copy_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                      cudaStream_t stream);
cudaError_t copy_rows_and_wait(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind);
/// The checks of copy_rows() and fill_rows() alone, for work of several parts.
cudaError_t check_copy_of_rows(void* to, const void* from, const Rows& rows, cudaMemcpyKind kind,
                               cudaStream_t stream);
cudaError_t check_fill_of_rows(void* to, const Rows& rows, cudaStream_t stream);
cudaError_t fill_rows(void* to, int value, const Rows& rows, cudaStream_t stream);
/// Elements of 1, 2 or 4 bytes; a row's width is in bytes, too.
cudaError_t fill_elements(void* to, unsigned value, size_t element_size, const Rows& rows,
                          cudaStream_t stream);
/// Whether a stream, a default stream among them, can be given work.
cudaError_t reject_work(cudaStream_t stream);
/// Whether a host can wait for a stream, which a capture may forbid.
cudaError_t reject_waiting(cudaStream_t stream);
/// The error of a call that waited for a device.
cudaError_t error_of_device(int device);
/// Priorities of streams; a smaller number is a higher priority.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;
/// Says what went wrong, on a device: it is lost with that.
void note_fault(const std::string& sentence);
void fault(const std::string& sentence, int device, cudaError_t error);
bool is_default_stream(cudaStream_t stream);
/// Its own, or for a default stream the current one.
int device_of(cudaStream_t stream);
/// False for what was destroyed, or never made.
inline bool exists(int device) {
  return device >= 0 && static_cast<size_t>(device) < state().devices.size();
}
inline bool knows(cudaStream_t stream) {
  return is_default_stream(stream) || state().streams.count(stream) != 0;
}
inline bool knows(cudaEvent_t event) { return state().events.count(event) != 0; }
template <class T>
cudaError_t destroy(std::set<T*>& all, T* object) {
  if (all.erase(object) == 0) return cudaErrorInvalidResourceHandle;
  delete object;
  return cudaSuccess;
}

}  // namespace kernkit::simulator
