// SPDX-License-Identifier: Apache-2.0
#include "runtime/state.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "platform/sanitizers.h"
#include "runtime/forked_process.h"
#include "runtime/host_function.h"
#include "runtime/visible_devices.h"

namespace kernkit::simulator {

// The state of the process. Never destroyed, since code that nvcc compiled unregisters its modules
// while the process ends.
State& state() {
  static State& the_state = *[] {
    auto* created = new State;
    created->reset({CudaDevice()});
    detect_forks();
    return created;
  }();
  return the_state;
}

// Destructors of objects may call the runtime after the owner of their thread's state was
// destroyed. Such a call creates a second state, which the destructor of a POSIX key deletes when
// the thread ends. In the main thread, the second state remains until the process ends.
ThreadState& thread_state() {
  static thread_local ThreadState* of_thread = nullptr;
  static const std::optional<pthread_key_t> key = [] {
    pthread_key_t created;
    const auto destroy = [](void*) { delete std::exchange(of_thread, nullptr); };
    return pthread_key_create(&created, destroy) == 0 ? std::optional(created) : std::nullopt;
  }();
  struct Owner {
    ~Owner() {
      delete std::exchange(of_thread, nullptr);
      if (key) pthread_setspecific(*key, nullptr);
    }
  };
  if (of_thread == nullptr) {
    static thread_local const Owner owner;
    static_cast<void>(owner);
    of_thread = new ThreadState();
    if (key) pthread_setspecific(*key, of_thread);
  }
  const unsigned long generation = state().generation;
  if (of_thread->generation != generation) {
    *of_thread = ThreadState();
    of_thread->generation = generation;
  }
  return *of_thread;
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
  for (size_t i = 0; i < devices.size(); ++i) device_states[i].ordinal = static_cast<int>(i);
  make_default_pools(this);
  calls.clear();
  launches.clear();
  injections.clear();
  driver_version = CUDART_VERSION;
  driver_started = false;
  reads_visible_devices = false;
  contexts.clear();
  run_kernels = false;
  settings = Settings();
  faults.clear();
  races_before = reported_races();
  queues.clear();
  waited.clear();
  for (auto& [pointer, allocation] : allocations) give_back_memory(pointer, allocation);
  allocations.clear();  // cleared before the graphs, which release their own memory
  freed.clear();
  for (auto* stream : streams) delete stream;
  for (auto* event : events) delete event;
  for (auto* graph : graphs) delete graph;
  for (auto* exec : execs) delete exec;
  streams.clear();
  events.clear();
  graphs.clear();
  execs.clear();
  for (auto* object : user_objects) delete object;
  user_objects.clear();
  for (auto& [function, kernel] : kernels) {
    kernel.opted_in_shared_memory = -1;
    kernel.allows_large_clusters = false;
  }
  if (devices.empty()) return;
  for (auto& [handle, module] : modules) {
    for (KernelExecutor* executor : executors()) executor->begin_managed_variables(handle);
  }
}

uint64_t State::random() {
  if (settings.seed == 0) return 0;
  random_state += settings.seed + 0x9e3779b97f4a7c15u;
  const uint64_t x = (random_state ^ (random_state >> 30)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 27);
}

const CudaDevice& current_device() {
  return state().devices.at(static_cast<size_t>(thread_state().device));
}
std::string capability_text(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

bool is_default_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

int device_of(cudaStream_t stream) {
  return is_default_stream(stream) ? thread_state().device : stream->device;
}

namespace {

cudaError_t injected(const char* function) {
  for (Injection& injection : state().injections) {
    if (!injection.function.empty() && injection.function != function) continue;
    if (--injection.remaining == 0) return injection.error;
  }
  return cudaSuccess;
}

bool begins_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}
bool launches_kernel(const char* function) {
  return begins_with(function, "cudaLaunchK") || begins_with(function, "cudaLaunchC") ||
         begins_with(function, "cuLaunchK") || begins_with(function, "cuLaunchC");
}
bool is_blocking_copy(const char* function) {
  if (std::strcmp(function, "cudaMemcpy") == 0) return true;
  return begins_with(function, "cuMemcpy") && std::strstr(function, "Async") == nullptr;
}

bool reaches_device(ApiScope scope) {
  return scope == ApiScope::kDevice || scope == ApiScope::kUnsafe;
}

cudaError_t planted() {
  const auto device = static_cast<size_t>(thread_state().device);
  if (device >= state().device_states.size()) return cudaSuccess;
  DeviceState& of_device = state().device_states[device];
  if (of_device.sticky != cudaSuccess) return of_device.sticky;
  return std::exchange(of_device.once, cudaSuccess);
}

}  // namespace

cudaError_t core::call(const char* function, ApiScope scope,
                       const std::function<cudaError_t()>& work) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const RaceIgnored bookkeeping;
  if (runtime_hooks.first_call != nullptr) std::exchange(runtime_hooks.first_call, nullptr)();
  ThreadState& of_thread = thread_state();
  const int device = of_thread.device;
  const char* caller = std::exchange(of_thread.function, function);
  if (*caller == '\0') of_thread.entry = function;
  cudaError_t error = in_host_function() ? cudaErrorNotPermitted : injected(function);
  const bool runs = error == cudaSuccess;
  if (error == cudaSuccess && reaches_device(scope)) {
    error = state().devices.empty() ? cudaErrorNoDevice : planted();
    // If a call that waits returns an error of the device, the host has nevertheless waited.
    const bool waits = std::strstr(function, "Synchronize") != nullptr ||
                       is_blocking_copy(function) || scope == ApiScope::kUnsafe;
    if (error != cudaSuccess && waits) {
      for (const auto& [key, queue] : state().queues) add_before(&state().waited, queue.before);
    }
  }
  if (error == cudaSuccess && scope == ApiScope::kUnsafe && reject_unsafe_call()) {
    error = cudaErrorStreamCaptureUnsupported;
  }
  if (error == cudaSuccess) error = work();
  if (runs && error != cudaSuccess && launches_kernel(function) &&
      runtime_hooks.call_failed != nullptr) {
    runtime_hooks.call_failed(function, error, "");
  }
  of_thread.function = caller;
  if (state().keeps_records) state().calls.push_back({function, error, device});
  return error;
}

cudaError_t call(const char* function, ApiScope scope, const std::function<cudaError_t()>& work) {
  const cudaError_t error = core::call(function, scope, [&] {
    if (scope == ApiScope::kProcess) return work();
    const cudaError_t rejected = reject_forked_process();
    if (rejected != cudaSuccess) return rejected;
    hide_devices();
    state().driver_started = true;
    if (!reaches_device(scope)) return work();
    if (state().devices.empty()) return cudaErrorNoDevice;
    const cudaError_t destroyed = use_primary_context();
    return destroyed != cudaSuccess ? destroyed : work();
  });
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  // The mutex is locked only here: core::call() must be able to unlock the mutex while it waits for
  // a host function.
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return thread_state().last_error = error;
}

cudaError_t reject_work(cudaStream_t stream) {
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  if (is_default_stream(stream)) {
    const bool legacy = stream != cudaStreamPerThread;
    return legacy && reject_legacy_stream(device_of(stream)) ? cudaErrorStreamCaptureImplicit
                                                             : cudaSuccess;
  }
  const CapturePoint* point = captured(stream);
  return point != nullptr && point->capture->invalidated ? cudaErrorStreamCaptureInvalidated
                                                         : cudaSuccess;
}

cudaError_t reject_waiting(cudaStream_t stream) {
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  if (CapturePoint* point = captured(stream)) {  // the host cannot wait for captured work
    point->capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  return reject_unsafe_call() ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t enqueue(cudaStream_t stream, GraphNode node) {
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  const bool on_host = node.kind == NodeKind::kHost;
  if (runtime_hooks.enqueued != nullptr && !on_host)
    node.work = runtime_hooks.enqueued(std::move(node.work), stream);
  if (CapturePoint* point = captured(stream)) {
    add_node(point, std::move(node));
  } else if (node.graph.empty()) {
    give(device_of(stream), stream, {0, std::move(node.work), nullptr, on_host});
  } else {
    launch(node.graph, device_of(stream), stream);
  }
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t stream, const Work& work, NodeKind kind) {
  return enqueue(stream, GraphNode{work, {}, kind});
}

cudaError_t error_of_device(int device) {
  return state().device_states.at(static_cast<size_t>(device)).sticky;
}

void note_fault(const std::string& sentence) {
  std::fprintf(stderr, "kernkit: %s\n", sentence.c_str());
  state().faults.push_back(sentence);
  send_to_log(sentence);
}

void fault(const std::string& sentence, int device, cudaError_t error) {
  note_fault(sentence);
  state().device_states.at(static_cast<size_t>(device)).sticky = error;
}

}  // namespace kernkit::simulator
