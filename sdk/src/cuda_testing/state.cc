// SPDX-License-Identifier: Apache-2.0
#include "state.h"

#include <atomic>
#include <cstdlib>
#include <utility>

#include "sanitizers.h"

namespace kernkit::testing {

// Neither is ever destroyed: nvcc's code unregisters itself while the process ends.
State& state() {
  static State& the_state = *[] {
    auto* made = new State;
    made->reset({CudaDevice()});
    return made;
  }();
  return the_state;
}

ThreadState& thread_state() {
  static thread_local ThreadState of_thread;
  const unsigned long generation = state().generation;
  if (of_thread.generation != generation) {
    of_thread = ThreadState();
    of_thread.generation = generation;
  }
  return of_thread;
}

unsigned long thread_number() {
  static std::atomic<unsigned long> next{1};
  static thread_local const unsigned long number = next++;
  return number;
}

void State::reset(std::vector<CudaDevice> new_devices) {
  const RaceIgnored bookkeeping;
  ++generation;
  devices = std::move(new_devices);
  device_states.assign(devices.size(), {});
  calls.clear();
  launches.clear();
  injections.clear();
  driver_version = CUDART_VERSION;
  run_kernels = false;
  emulation = Emulation();
  faults.clear();
  races_before = reported_races();
  queues.clear();
  for (auto& [pointer, allocation] : allocations) std::free(pointer);
  for (auto* stream : streams) {
    delete stream->graph;
    delete stream;
  }
  for (auto* event : events) delete event;
  for (auto* graph : graphs) delete graph;
  for (auto* exec : execs) delete exec;
  allocations.clear();
  streams.clear();
  events.clear();
  graphs.clear();
  execs.clear();
  for (auto& [function, kernel] : kernels) kernel.max_dynamic_shared_memory = 48 * 1024;
}

uint64_t State::random() {
  if (emulation.seed == 0) return 0;
  random_state += emulation.seed + 0x9e3779b97f4a7c15u;
  const uint64_t x = (random_state ^ (random_state >> 30)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 27);
}

bool is_default_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool capture_forbids_unsafe_calls() {
  for (const CUstream_st* stream : state().streams) {
    if (!stream->capturing || stream->mode == cudaStreamCaptureModeRelaxed) continue;
    if (stream->mode == cudaStreamCaptureModeGlobal || stream->thread == thread_number()) {
      return true;
    }
  }
  return false;
}

void invalidate_captures() {
  for (CUstream_st* stream : state().streams) {
    if (stream->capturing) stream->invalidated = true;
  }
}

namespace {

cudaError_t injected(const char* function) {
  for (Injection& injection : state().injections) {
    if (!injection.function.empty() && injection.function != function) continue;
    if (--injection.left == 0) return injection.error;
  }
  return cudaSuccess;
}

cudaError_t planted() {
  const auto device = static_cast<size_t>(thread_state().device);
  if (device >= state().device_states.size()) return cudaSuccess;
  DeviceState& of_device = state().device_states[device];
  if (of_device.sticky != cudaSuccess) return of_device.sticky;
  return std::exchange(of_device.once, cudaSuccess);
}

}  // namespace

cudaError_t call(const char* function, Reach reach, const std::function<cudaError_t()>& work) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const RaceIgnored bookkeeping;
  ThreadState& of_thread = thread_state();
  const int device = of_thread.device;
  cudaError_t error = injected(function);
  if (error == cudaSuccess && reach != Reach::kHost) {
    error = state().devices.empty() ? cudaErrorNoDevice : planted();
  }
  if (error == cudaSuccess && reach == Reach::kUnsafe && capture_forbids_unsafe_calls()) {
    invalidate_captures();
    error = cudaErrorStreamCaptureUnsupported;
  }
  if (error == cudaSuccess) error = work();
  if (error != cudaSuccess && error != cudaErrorNotReady) of_thread.last_error = error;
  state().calls.push_back({function, error, device});
  return error;
}

cudaError_t enqueue(cudaStream_t stream, const Work& work, const std::function<bool()>& ready) {
  const int device = thread_state().device;
  if (is_default_stream(stream)) {
    if (capture_forbids_unsafe_calls() && stream != cudaStreamPerThread) {
      invalidate_captures();
      return cudaErrorStreamCaptureImplicit;
    }
  } else if (state().streams.count(stream) == 0 || stream->device != device) {
    return cudaErrorInvalidResourceHandle;
  } else if (stream->invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  } else if (stream->capturing) {
    stream->graph->nodes.push_back(work);
    return cudaSuccess;
  }
  give(device, stream, {0, work, ready});
  return cudaSuccess;
}

cudaError_t error_of_device() {
  return state().device_states.at(static_cast<size_t>(thread_state().device)).sticky;
}

// CudaRuntime: what a test says to it.

using Lock = std::lock_guard<std::recursive_mutex>;

CudaRuntime::CudaRuntime(std::vector<CudaDevice> devices) {
  const Lock lock(state().mutex);
  state().reset(std::move(devices));
}

CudaRuntime::~CudaRuntime() {
  const Lock lock(state().mutex);
  state().reset({CudaDevice()});
}

std::vector<CudaCall> CudaRuntime::calls() const {
  const Lock lock(state().mutex);
  return state().calls;
}

size_t CudaRuntime::count(const std::string& function) const {
  const Lock lock(state().mutex);
  size_t found = 0;
  for (const CudaCall& call : state().calls) found += call.function == function;
  return found;
}

std::vector<CudaLaunch> CudaRuntime::launches() const {
  const Lock lock(state().mutex);
  return state().launches;
}

void CudaRuntime::clear() {
  const Lock lock(state().mutex);
  state().calls.clear();
  state().launches.clear();
}

void CudaRuntime::fail(const std::string& function, int k, cudaError_t error) {
  const Lock lock(state().mutex);
  state().injections.push_back({function, k, error});
}

void CudaRuntime::plant(CudaFault fault, cudaError_t error, int device) {
  const Lock lock(state().mutex);
  DeviceState& of_device = state().device_states.at(static_cast<size_t>(device));
  switch (fault) {
    case CudaFault::kPending: thread_state().last_error = error; return;
    case CudaFault::kOnce: of_device.once = error; return;
    case CudaFault::kSticky: of_device.sticky = error; return;
  }
}

void CudaRuntime::set_driver_version(int version) {
  const Lock lock(state().mutex);
  state().driver_version = version;
}

void CudaRuntime::run_kernels(bool run) {
  const Lock lock(state().mutex);
  state().run_kernels = run;
}

void CudaRuntime::set_seed(unsigned seed) {
  const Lock lock(state().mutex);
  state().emulation.seed = seed;
  state().random_state = 0;
}

void CudaRuntime::set_poison(unsigned char byte) {
  const Lock lock(state().mutex);
  state().emulation.poison = byte;
}

void CudaRuntime::set_watchdog(double seconds) {
  const Lock lock(state().mutex);
  state().emulation.watchdog = seconds;
}

std::vector<std::string> CudaRuntime::faults() const {
  const Lock lock(state().mutex);
  return state().faults;
}

size_t CudaRuntime::races() const {
  const Lock lock(state().mutex);
  return reported_races() - state().races_before;
}

std::string CudaRuntime::live() const {
  const Lock lock(state().mutex);
  std::string text;
  const auto append = [&](size_t count, const char* what) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  append(state().allocations.size(), "allocation");
  append(state().streams.size(), "stream");
  append(state().events.size(), "event");
  append(state().graphs.size() + state().execs.size(), "graph");
  return text;
}

size_t CudaRuntime::used_memory(int device) const {
  const Lock lock(state().mutex);
  return state().device_states.at(static_cast<size_t>(device)).used;
}

}  // namespace kernkit::testing
