// SPDX-License-Identifier: Apache-2.0
// CudaRuntime, the interface for tests.
#include <utility>

#include "runtime/state.h"

namespace kernkit::simulator {

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
  size_t num_calls = 0;
  for (const CudaCall& call : state().calls) num_calls += call.function == function;
  return num_calls;
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

void CudaRuntime::set_seed(unsigned seed, bool spread) {
  const Lock lock(state().mutex);
  state().settings.seed = seed;
  state().settings.spreads = spread;
  state().random_state = 0;
}

unsigned CudaRuntime::seed() const {
  const Lock lock(state().mutex);
  return state().settings.seed;
}

void CudaRuntime::sample_blocks(uint64_t grid, unsigned blocks) {
  const Lock lock(state().mutex);
  state().settings.sampled_grid = grid;
  state().settings.sampled_blocks = blocks;
}

void CudaRuntime::set_poison(unsigned char byte) {
  const Lock lock(state().mutex);
  state().settings.poison = byte;
}

void CudaRuntime::set_device_summation(bool on) {
  const Lock lock(state().mutex);
  state().settings.device_summation = on;
}

void CudaRuntime::set_watchdog(double seconds) {
  const Lock lock(state().mutex);
  state().settings.watchdog = seconds;
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
  const auto append = [&](size_t count, const char* noun) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
  };
  append(state().allocations.size(), "allocation");
  append(state().streams.size(), "stream");
  append(state().events.size(), "event");
  append(state().graphs.size() + state().execs.size(), "graph");
  return text;
}

size_t CudaRuntime::used_memory(int device) const {
  const Lock lock(state().mutex);
  return state().device_states.at(static_cast<size_t>(device)).used - unused_of_pools(device);
}

}  // namespace kernkit::simulator
