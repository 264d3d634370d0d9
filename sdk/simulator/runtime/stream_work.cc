// SPDX-License-Identifier: Apache-2.0
#include "kernkit/simulator/stream_work.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "platform/sanitizers.h"
#include "runtime/host_function.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

void run(const kernkit_stream_work& work, void* data,
         const std::vector<kernkit_memory_access>& accesses, int device) {
  const char* problem = nullptr;
  {
    const RaceObserved of_device;
    problem = work.run(data);
  }
  for (const bool writes : {false, true}) {  // reports reads first, then writes
    for (const kernkit_memory_access& access : accesses) {
      if ((access.writes != 0) != writes) continue;
      const MemoryStep step = writes ? MemoryStep::kFilled : MemoryStep::kRead;
      runtime_hooks.memory(step, access.at, access.bytes, nullptr);
    }
  }
  if (problem != nullptr) {
    fault(std::string(work.name) + ": " + problem, device, cudaErrorAssert);
  }
}

cudaError_t enqueue_work(cudaStream_t stream, const kernkit_stream_work& work,
                         const std::shared_ptr<void>& data) {
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  const int device = device_of(stream);
  const bool is_captured = captured(stream) != nullptr;
  std::vector<kernkit_memory_access> accesses;
  if (work.accesses != nullptr) {
    accesses.assign(work.accesses, work.accesses + work.num_accesses);
  }
  thread_state().place = work.place != nullptr ? work.place : "";
  const cudaError_t error = enqueue(
      stream,
      [work, data, accesses = std::move(accesses), device] {
        run(work, data.get(), accesses, device);
      },
      NodeKind::kKernel);
  thread_state().place = "";
  if (error == cudaSuccess && !is_captured) note_kernel(device, stream);
  return error;
}

cudaError_t wait_for_turn(cudaStream_t stream, int* is_captured) {
  if (is_captured == nullptr) return cudaErrorInvalidValue;
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  *is_captured = captured(stream) != nullptr;
  if (*is_captured != 0) return cudaSuccess;
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  const int device = device_of(stream);
  collect_host_functions();
  const bool has_work =
      std::any_of(state().queues.begin(), state().queues.end(), [&](const auto& entry) {
        return entry.first.first == device && !entry.second.tasks.empty();
      });
  if (has_work) {
    const auto has_turn = std::make_shared<bool>(false);
    give(device, stream, {0, [has_turn] { *has_turn = true; }, nullptr});
    drain_until(device, [&] { return *has_turn; });
  }
  Queue& queue = queue_of(device, stream);
  add_before(&state().waited, queue.before);
  race_acquire(&queue.done);
  return error_of_device(device);
}

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): this is its function

extern "C" cudaError_t kernkit_enqueue_work(cudaStream_t stream, const kernkit_stream_work* work) {
  if (work == nullptr || work->name == nullptr || work->run == nullptr) {
    return call("kernkit_enqueue_work", ApiScope::kHost, [] { return cudaErrorInvalidValue; });
  }
  // If the work has ended or was rejected, the end of this function releases the data, after call()
  // has unlocked the runtime's mutex.
  const std::shared_ptr<void> data(work->data, [release = work->release](void* object) {
    if (release != nullptr) release(object);
  });
  return call(work->name, ApiScope::kDevice, [&] { return enqueue_work(stream, *work, data); });
}

extern "C" cudaError_t kernkit_wait_for_turn(cudaStream_t stream, int* is_captured) {
  return call("kernkit_wait_for_turn", ApiScope::kDevice,
              [&] { return wait_for_turn(stream, is_captured); });
}
