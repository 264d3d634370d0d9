// SPDX-License-Identifier: Apache-2.0
// Events.
#include "sanitizers.h"
#include "state.h"

namespace kernkit::testing {
namespace {

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->device = thread_state().device;
  (*event)->timing = (flags & cudaEventDisableTiming) == 0;
  state().events.insert(*event);
  return cudaSuccess;
}

}  // namespace
}  // namespace kernkit::testing

using namespace kernkit::testing;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", Reach::kDevice, [&] { return create_event(event, 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags", Reach::kDevice,
              [&] { return create_event(event, flags); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", Reach::kDevice, [&] {
    if (!knows(event) || event->device != thread_state().device) {
      return cudaErrorInvalidResourceHandle;
    }
    const unsigned record = ++event->records;
    return enqueue(stream, [record, reached = event->reached] {
      race_release(reached.get());
      if (*reached < record) *reached = record;
    });
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", Reach::kUnsafe, [&] {
    if (!knows(event)) return cudaErrorInvalidResourceHandle;
    drain_until([&] { return event->happened(); });
    race_acquire(event->reached.get());
    return error_of_device();
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", Reach::kUnsafe, [&] {
    if (!knows(event)) return cudaErrorInvalidResourceHandle;
    some_work();
    return event->happened() ? error_of_device() : cudaErrorNotReady;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", Reach::kDevice, [&] {
    const bool measured = knows(start) && knows(end) && start->timing && end->timing &&
                          start->records != 0 && end->records != 0;
    *milliseconds = 1.0f;  // of no meaning
    if (!measured) return cudaErrorInvalidResourceHandle;
    return start->happened() && end->happened() ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", Reach::kHost, [&] { return destroy(state().events, event); });
}

}  // extern "C"
