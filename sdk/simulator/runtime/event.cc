// SPDX-License-Identifier: Apache-2.0
// Event functions of the runtime.
#include <chrono>
#include <utility>

#include "platform/sanitizers.h"
#include "runtime/core/events.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

// Returns the time of a monotonic clock of the host [s]. The elapsed time between events is
// therefore unrelated to the time on a GPU.
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  if (!exists(event) || !exists(stream) || event->device != device_of(stream)) {
    return cudaErrorInvalidResourceHandle;
  }
  if (const CapturePoint* point = captured(stream)) {
    if (point->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    event->point = *point;
    return cudaSuccess;
  }
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  const cudaError_t error = enqueue(stream, recording_of(event));
  event->before = queue_of(device_of(stream), stream).before;
  return error;
}

// Returns cudaErrorCapturedEvent, and invalidates the capture, if the event was recorded during a
// stream capture: only a launch of the graph can complete such an event.
cudaError_t reject_waiting_for_event(cudaEvent_t event) {
  if (!exists(event)) return cudaErrorInvalidResourceHandle;
  if (event->point.capture != nullptr) {
    event->point.capture->invalidated = true;
    return cudaErrorCapturedEvent;
  }
  return reject_unsafe_call() ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t elapsed_time(cudaEvent_t start, cudaEvent_t end) {
  if (!exists(start) || !exists(end)) return cudaErrorInvalidResourceHandle;
  for (cudaEvent_t event : {start, end}) {
    if (event->point.capture != nullptr) return cudaErrorCapturedEvent;
    if (!event->timing || event->record == nullptr) return cudaErrorInvalidResourceHandle;
  }
  if (start->device != end->device) return cudaErrorInvalidResourceHandle;
  return start->happened() && end->happened() ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace

Work recording_of(cudaEvent_t event) {
  event->point = {};
  event->record = std::make_shared<EventRecord>();
  return [record = event->record] {
    race_release(record.get());
    record->is_reached = true;
    record->time = seconds_now();
  };
}

namespace core {

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  if (event == nullptr) return cudaErrorInvalidValue;
  *event = new CUevent_st;
  (*event)->device = thread_state().device;
  (*event)->context = current_context();
  (*event)->timing = (flags & cudaEventDisableTiming) == 0;
  state().events.insert(*event);
  return cudaSuccess;
}
cudaError_t destroy_event(cudaEvent_t event) { return destroy(state().events, event); }

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  constexpr unsigned kDefault = 0, kExternal = 1;
  if (flags != kDefault && flags != kExternal) return cudaErrorInvalidValue;
  if (flags == kExternal && exists(stream) && captured(stream) != nullptr) {
    if (!exists(event) || event->device != device_of(stream)) return cudaErrorInvalidResourceHandle;
    GraphNode node{[] {}, {}, NodeKind::kEventRecord};
    node.event = event;
    return enqueue(stream, std::move(node));
  }
  return record(event, stream);
}

cudaError_t wait_for_event(cudaEvent_t event) {
  const cudaError_t rejected = reject_waiting_for_event(event);
  if (rejected != cudaSuccess) return rejected;
  drain_until(event->device, [&] { return event->happened(); });
  add_before(&state().waited, event->before);
  if (event->record != nullptr) race_acquire(event->record.get());
  release_unused_of_pools(event->device);
  return error_of_device(event->device);
}

cudaError_t query_event(cudaEvent_t event) {
  const cudaError_t rejected = reject_waiting_for_event(event);
  if (rejected != cudaSuccess) return rejected;
  work_for_question(event->device, [&] { return event->happened(); });
  if (!event->happened()) return cudaErrorNotReady;
  add_before(&state().waited, event->before);
  if (event->record != nullptr) race_acquire(event->record.get());
  return error_of_device(event->device);
}

cudaError_t read_elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const cudaError_t error = elapsed_time(start, end);
  if (error != cudaSuccess) return error;
  if (milliseconds == nullptr) return cudaErrorInvalidValue;
  *milliseconds = static_cast<float>((end->record->time - start->record->time) * 1e3);
  return cudaSuccess;
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", ApiScope::kDevice, [&] { return core::create_event(event, 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags", ApiScope::kDevice,
              [&] { return core::create_event(event, flags); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", ApiScope::kDevice,
              [&] { return core::record_event(event, stream, 0); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", ApiScope::kDevice,
              [&] { return core::wait_for_event(event); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", ApiScope::kDevice, [&] { return core::query_event(event); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", ApiScope::kDevice,
              [&] { return core::read_elapsed_time(milliseconds, start, end); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", ApiScope::kHost, [&] { return core::destroy_event(event); });
}

}  // extern "C"
