// SPDX-License-Identifier: Apache-2.0
// The state of the simulated runtime, and the functions that its API functions share.
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
#include "platform/sanitizers.h"
#include "runtime/capture.h"
#include "runtime/core/call.h"
#include "runtime/core/contexts.h"
#include "runtime/pool.h"
#include "runtime/queue.h"
#include "runtime/user_objects.h"
#include "schedule/schedule.h"

struct CUgraph_st {
  std::vector<kernkit::simulator::GraphNode> nodes;
  kernkit::simulator::UserObjectReferences user_objects;
};
struct CUgraphExec_st {
  std::vector<kernkit::simulator::GraphNode> nodes;  // flattened nodes
  bool frees_on_launch = false;  // whether a launch first frees memory of earlier launches
  unsigned launches = 0;         // launches on streams, of which *ended have ended
  kernkit::simulator::UserObjectReferences user_objects;
  std::shared_ptr<unsigned> ended = std::make_shared<unsigned>(0);
};
struct CUstream_st {
  int device;
  bool non_blocking = false;
  kernkit::simulator::CapturePoint point;
  int priority = 0;
  unsigned long number = 0;     // position in the order of all streams, from 1 on
  CUctx_st* context = nullptr;  // context of the stream; null for the primary context
};
namespace kernkit::simulator {
/// A record of an event in a stream. race_release() and race_acquire() use its address.
struct EventRecord {
  EventRecord() = default;
  EventRecord(const EventRecord&) = delete;
  EventRecord& operator=(const EventRecord&) = delete;
  ~EventRecord() { race_forget(this); }
  bool is_reached = false;
  double time = 0;  // the host's time at which the record was reached [s]
};
}  // namespace kernkit::simulator

struct CUevent_st {
  int device;
  bool timing;
  kernkit::simulator::CapturePoint point;  // position in a capture, if the last record was captured
  // The last record; null before the first record. A waiting stream keeps a pointer to the record
  // for which the stream waits, so later records do not change the wait, as on a GPU.
  std::shared_ptr<kernkit::simulator::EventRecord> record;
  kernkit::simulator::TasksBefore before;  // tasks that happen before the last record
  CUctx_st* context = nullptr;             // context of the event; null for the primary context
  bool happened() const { return record == nullptr || record->is_reached; }
};

namespace kernkit::simulator {

/// The compute capabilities for which a fat binary has code.
struct ModuleInfo {
  std::vector<int> machine_code;  // compute capabilities with machine code
  std::vector<int> ptx;           // compute capabilities of PTX
};

/// A block of a framework's allocator, within an allocation.
struct MemoryBlock {
  size_t size;           // [bytes]
  unsigned long number;  // position in the order of all blocks
  bool ends;             // whether kernkit_end_block() was called for the block
};

struct Allocation {
  size_t size;
  int device;
  cudaMemoryType type;
  bool sparse;
  unsigned long number = 0;  // position in the order of all allocations
  bool of_graph = false;     // whether a graph, which keeps the address, allocates the memory
  bool freed = false;        // whether cudaFreeAsync() was called for the memory
  bool registered = false;  // whether the memory is the program's own, passed to cudaHostRegister()
  std::shared_ptr<MemoryPool> pool = nullptr;  // pool of the memory; null without a pool
  bool held = false;    // whether a graph launch allocated the memory and no call freed it
  bool live = true;     // whether a graph's memory is allocated on the device now
  bool counted = true;  // whether the device or pool counts the memory, see count_allocated()
  // The last graph launch that used the memory: the launch's queue, the number of ended launches of
  // its executable graph, and the launch's number.
  std::pair<int, cudaStream_t> queue = {};
  std::shared_ptr<const unsigned> ended = nullptr;
  unsigned launches = 0;
  CUctx_st* context = nullptr;  // context of the memory; null for the primary context
  // Ranges that kernels may not access, see kernkit_close_to_kernels().
  std::vector<std::pair<const char*, size_t>> closed = {};
  // Blocks of a framework's allocator by start address, see kernkit/simulator/blocks.h. If
  // `has_blocks` is true, kernels may access only bytes in blocks.
  bool has_blocks = false;
  std::multimap<const char*, MemoryBlock> blocks = {};
  // The functions of the runtime that the program called to allocate and to free the memory.
  const char* allocated_by = "";
  const char* freed_by = "";
};

/// An allocation that was freed.
struct FreedMemory {
  size_t size;  // size of the allocation [bytes]
  const char *allocated_by, *freed_by;
};

struct Injection {
  std::string function;
  int remaining;
  cudaError_t error;
};

struct DeviceState {
  int ordinal = 0;  // position among all devices, which CUDA_VISIBLE_DEVICES does not change
  size_t used = 0;  // allocations without a pool, and memory reserved by pools [bytes]
  std::shared_ptr<MemoryPool> default_pool, pool, graph_pool;
  unsigned flags = 0;           // flags of cudaSetDeviceFlags(), which have no effect
  CUctx_st* primary = nullptr;  // primary context; null before its first use
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
  bool driver_started = false;                      // whether the driver's API is initialised
  bool reads_visible_devices = false;               // whether to read CUDA_VISIBLE_DEVICES
  std::vector<std::unique_ptr<CUctx_st>> contexts;  // all contexts, including destroyed contexts
  bool run_kernels = false;
  bool keeps_records = true;  // whether CudaRuntime's calls() and launches() are recorded
  Settings settings;
  std::vector<std::string> faults;
  size_t races_before = 0;

  std::map<std::pair<int, cudaStream_t>, Queue> queues;
  TasksBefore waited;       // tasks whose completion the host has waited for
  unsigned long tasks = 0;  // number of tasks so far
  unsigned long allocated = 0;
  unsigned long num_streams_created = 0;
  unsigned long long captures_begun = 0;
  uint64_t random_state = 0;
  /// Returns the next pseudo-random number; 0 without a seed.
  uint64_t random();

  std::map<void*, Allocation> allocations;
  std::set<std::shared_ptr<MemoryPool>> pools;  // pools of the program and of the devices
  std::map<void*, FreedMemory> freed;           // freed memory whose addresses are not reused yet
  std::set<CUstream_st*> streams;
  std::set<CUevent_st*> events;
  std::set<CUgraph_st*> graphs;
  std::set<CUgraphExec_st*> execs;
  std::set<CUuserObject_st*> user_objects;

  // Kernels and modules, registered when their code is loaded. reset() keeps them.
  std::map<const void*, KernelInfo> kernels;
  std::map<void**, ModuleInfo> modules;

  void reset(std::vector<CudaDevice> new_devices);
};

/// The state of each thread.
struct ThreadState {
  unsigned long generation = 0;
  int device = 0;
  std::vector<CUctx_st*> contexts;  // stack of contexts; the last context is current
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  const char* function = "";  // name of the current API function; "" outside of calls
  const char* entry = "";     // name of the API function that the program called
  const char* place = "";     // call site of the current function in the program, or ""
};

State& state();
const CudaDevice& current_device();
/// Returns a compute capability as text: "9.0" for 90.
std::string capability_text(int compute_capability);
/// Returns the kernel with this handle; null for a function that was neither registered nor
/// described.
KernelInfo* find_kernel(const void* kernel);
/// Returns the executor of a kernel; null if no executor runs the kernel.
KernelExecutor* executor_of(const KernelInfo& kernel);
const std::vector<KernelExecutor*>& executors();
/// Returns whether an address is in a variable of a module, and stores the variable's memory type
/// and device.
bool is_variable(const void* address, cudaPointerAttributes* attributes);
/// Finds the variable that contains an address. Returns false if there is none.
bool find_variable(const void* address, VariableRange* variable);
/// Reads the attributes of a kernel for the current device. Reports the reason if the kernel cannot
/// run. Returns cudaErrorNoKernelImageForDevice without PTX for the device.
cudaError_t read_kernel(KernelInfo* kernel);
/// Reports the launch of a kernel whose address was cast to void*, and returns the error.
cudaError_t reject_launch_by_address(const void* kernel);
/// Returns the number of blocks with `threads` threads and `shared_memory` bytes of dynamic shared
/// memory that a multiprocessor can hold.
size_t blocks_per_sm(const KernelInfo& kernel, size_t threads, size_t shared_memory);
/// Returns memory of the process for an allocation; null if no memory is left.
void* take_memory(const Allocation& allocation);
void give_back_memory(void* memory, const Allocation& allocation);
/// Returns the allocation around an address; null for other memory.
const Allocation* allocation_of(const void* address);
/// Returns (beginning, block) for a block of the allocation that contains the address; null if no
/// block contains the address.
const std::pair<const char* const, MemoryBlock>* block_around(const Allocation& allocation,
                                                              const char* address);
/// Returns whether an address is in a range reserved for allocations. If such an address is not in
/// an allocation, it is in freed memory or past the end of an allocation. Under a sanitizer the
/// result is always false, because the C library allocates the memory.
bool is_reserved(const void* address);
/// Returns the number of races that ThreadSanitizer reported in this process.
size_t reported_races();
ThreadState& thread_state();
/// Returns the thread's current context; null without a context.
CUctx_st* current_context();
/// Makes the primary context of the thread's device current unless the thread has a context.
/// Returns cudaErrorContextIsDestroyed for a destroyed context.
cudaError_t use_primary_context();
/// Replaces the current context by the primary context of a device.
void make_primary_current(int device);
/// Returns a number that identifies the thread.
unsigned long thread_number();

/// Runs core::call() for a function of the runtime's API. An error becomes the thread's last error.
cudaError_t call(const char* function, ApiScope scope, const std::function<cudaError_t()>& work);

/// Enqueues work in a stream; in a captured stream, adds the work to the graph as a node of this
/// kind.
cudaError_t enqueue(cudaStream_t stream, const Work& work, NodeKind kind = NodeKind::kEmpty);
cudaError_t enqueue(cudaStream_t stream, GraphNode node);
/// Begins a record of an event, and returns the work that marks the record as reached when the
/// device runs the work.
Work recording_of(cudaEvent_t event);
/// Returns an error if no work can be enqueued in a stream, which may be a default stream.
cudaError_t reject_work(cudaStream_t stream);
/// Returns an error if the host may not wait for a stream, because of a capture or a missing
/// stream.
cudaError_t reject_waiting(cudaStream_t stream);
/// Returns the error that a call returns after it has waited for a device.
cudaError_t error_of_device(int device);
/// Priorities of streams; a smaller number is a higher priority.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;
/// Passes a report to the functions that the program registered, see core/logs.h.
void send_to_log(std::string sentence);
/// Prints and records a fault. fault() also makes `error` the result of later calls that reach the
/// device.
void note_fault(const std::string& sentence);
void fault(const std::string& sentence, int device, cudaError_t error);
bool is_default_stream(cudaStream_t stream);
/// Returns the stream's device; the current device for a default stream.
int device_of(cudaStream_t stream);
/// Returns whether an object exists: false for a destroyed or unknown object.
inline bool exists(int device) {
  return device >= 0 && static_cast<size_t>(device) < state().devices.size();
}
inline bool exists(cudaStream_t stream) {
  return is_default_stream(stream) || state().streams.count(stream) != 0;
}
inline bool exists(cudaEvent_t event) { return state().events.count(event) != 0; }
template <class T>
cudaError_t destroy(std::set<T*>& all, T* object) {
  if (all.erase(object) == 0) return cudaErrorInvalidResourceHandle;
  delete object;
  return cudaSuccess;
}

}  // namespace kernkit::simulator
