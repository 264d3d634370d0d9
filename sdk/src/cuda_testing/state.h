// SPDX-License-Identifier: Apache-2.0
// The state of the CUDA runtime for tests, and how each of its functions begins and ends.
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

#include "grid.h"
#include "kernkit/testing/cuda_runtime.h"
#include "queue.h"

// Work in the order in which it was given.
using Work = std::function<void()>;

struct CUgraph_st {
  std::vector<Work> nodes;
};
struct CUgraphExec_st {
  std::vector<Work> nodes;
};
struct CUstream_st {
  int device;
  bool capturing = false;
  bool non_blocking = false;
  bool invalidated = false;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  unsigned long thread = 0;  // that began the capture
  CUgraph_st* graph = nullptr;
};
struct CUevent_st {
  int device;
  bool timing;
  unsigned records = 0;  // how often it was recorded, and how many of these were reached
  std::shared_ptr<unsigned> reached = std::make_shared<unsigned>(0);
  bool happened() const { return *reached == records; }
};

namespace kernkit::testing {

/// A kernel that nvcc registered or that was described.
struct KernelInfo {
  std::string mangled;
  std::string name;           // as C++ writes it
  std::vector<size_t> sizes;  // of the arguments; 0: unknown
  CudaInvoke invoke = nullptr;
  void** module = nullptr;
  int max_dynamic_shared_memory = 48 * 1024;
};

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
};

struct Injection {
  std::string function;
  int left;
  cudaError_t error;
};

struct DeviceState {
  size_t used = 0;
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
  Emulation emulation;
  std::vector<std::string> faults;
  size_t races_before = 0;

  std::map<std::pair<int, cudaStream_t>, Queue> queues;
  unsigned long tasks = 0;  // how many there were
  uint64_t random_state = 0;
  /// Another number each time, from the seed; 0 without one.
  uint64_t random();

  std::map<void*, Allocation> allocations;
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
};

State& state();
const CudaDevice& current_device();
/// Null for a function that is no kernel of which anything is known.
KernelInfo* find_kernel(const void* kernel);
/// By threads and shared memory alone.
size_t blocks_per_sm(size_t threads, size_t shared_memory);
/// Memory of the process that stands for the allocation's; null when there is none.
void* take_memory(const Allocation& allocation);
void give_back_memory(void* memory, const Allocation& allocation);
/// The allocation that an address lies in; null for other memory.
const Allocation* allocation_of(const void* address);
/// How many races ThreadSanitizer reported in this process.
size_t reported_races();
ThreadState& thread_state();
/// Tells threads apart.
unsigned long thread_number();

/// What a function does besides its work.
enum class Reach {
  kHost,    // asks or sets something in this process
  kDevice,  // reaches the current device: meets what is planted there
  kUnsafe,  // and may not be called while a stream is captured
};

/// Runs a function of the runtime: records it, fails when a test wants that, keeps its error.
cudaError_t call(const char* function, Reach reach, const std::function<cudaError_t()>& work);

/// Gives work to a stream of the current device, or captures it; `on_host`: a function of the host.
cudaError_t enqueue(cudaStream_t stream, const Work& work, bool on_host = false);
/// What a call says that waited for the current device.
cudaError_t error_of_device();
bool is_default_stream(cudaStream_t stream);
/// False for what was destroyed, or never made.
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

/// True when some capture forbids calls that could wait for it.
bool capture_forbids_unsafe_calls();
void invalidate_captures();

}  // namespace kernkit::testing
