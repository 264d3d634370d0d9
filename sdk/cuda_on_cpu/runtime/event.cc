// SPDX-License-Identifier: Apache-2.0
// Events.
#include "process/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->device = thread_state().device;
  (*event)->timing = (flags & cudaEventDisableTiming) == 0;
  state().events.insert(*event);
  return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  if (!knows(event) || !knows(stream) || event->device != device_of(stream)) {
    return cudaErrorInvalidResourceHandle;
  }
  if (const CapturePoint* point = captured(stream)) {
    if (point->capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    event->point = *point;
    return cudaSuccess;
  }
  const cudaError_t refused = refuse_work(stream);
  if (refused != cudaSuccess) return refused;
  event->point = {};
  return enqueue(stream, [record = ++event->records, reached = event->reached] {
    race_release(reached.get());
    if (*reached < record) *reached = record;
  });
}

// What was recorded in a capture never happens, but in a graph.
cudaError_t refuse_waiting_for_event(cudaEvent_t event) {
  if (!knows(event)) return cudaErrorInvalidResourceHandle;
  if (event->point.capture != nullptr) {
    event->point.capture->invalidated = true;
    return cudaErrorCapturedEvent;
  }
  return refuse_unsafe_call() ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t elapsed_time(cudaEvent_t start, cudaEvent_t end) {
  if (!knows(start) || !knows(end)) return cudaErrorInvalidResourceHandle;
  for (cudaEvent_t event : {start, end}) {
    if (event->point.capture != nullptr) return cudaErrorCapturedEvent;
    if (!event->timing || event->records == 0) return cudaErrorInvalidResourceHandle;
  }
  if (start->device != end->device) return cudaErrorInvalidResourceHandle;
  return start->happened() && end->happened() ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", Reach::kDevice, [&] { return create_event(event, 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags", Reach::kDevice,
              [&] { return create_event(event, flags); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", Reach::kDevice, [&] { return record(event, stream); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", Reach::kDevice, [&] {
    const cudaError_t refused = refuse_waiting_for_event(event);
    if (refused != cudaSuccess) return refused;
    drain_until(event->device, [&] { return event->happened(); });
    race_acquire(event->reached.get());
    release_unused_of_pools(event->device);
    return error_of_device(event->device);
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", Reach::kDevice, [&] {
    const cudaError_t refused = refuse_waiting_for_event(event);
    if (refused != cudaSuccess) return refused;
    work_for_question(event->device, [&] { return event->happened(); });
    return event->happened() ? error_of_device(event->device) : cudaErrorNotReady;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", Reach::kDevice, [&] {
    *milliseconds = 1.0f;  // of no meaning
    return elapsed_time(start, end);
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", Reach::kHost, [&] { return destroy(state().events, event); });
}

}  // extern "C"
