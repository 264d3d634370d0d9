// SPDX-License-Identifier: Apache-2.0
// Stream functions of the runtime.
#include <algorithm>

#include "platform/sanitizers.h"
#include "runtime/core/streams.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator::core {

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr) return cudaErrorInvalidValue;
  *stream = new CUstream_st;
  (*stream)->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  (*stream)->number = ++state().num_streams_created;
  (*stream)->non_blocking = (flags & cudaStreamNonBlocking) != 0;
  (*stream)->device = thread_state().device;
  (*stream)->context = current_context();
  state().streams.insert(*stream);
  return cudaSuccess;
}

cudaError_t wait_for_stream(cudaStream_t stream) {
  const cudaError_t rejected = reject_waiting(stream);
  if (rejected != cudaSuccess) return rejected;
  drain(device_of(stream), stream);
  release_unused_of_pools(device_of(stream));
  return error_of_device(device_of(stream));
}

cudaError_t query_stream(cudaStream_t stream) {
  const cudaError_t rejected = reject_waiting(stream);
  if (rejected != cudaSuccess) return rejected;
  const int device = device_of(stream);
  const auto idle = [&] { return is_idle(device, stream); };
  work_for_question(device, idle);
  if (!idle()) return cudaErrorNotReady;
  Queue& queue = queue_of(device, stream);
  add_before(&state().waited, queue.before);
  race_acquire(&queue.done);
  return error_of_device(device);
}

cudaError_t wait_in_stream(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (!exists(stream) || !exists(event)) return cudaErrorInvalidResourceHandle;
  if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) return cudaErrorInvalidValue;
  if (captured(stream) != nullptr || event->point.capture != nullptr) {
    if (flags == cudaEventWaitDefault) return wait_in_capture(stream, event);
    if (captured(stream) == nullptr) return cudaErrorInvalidValue;
    GraphNode node{[] {}, {}, NodeKind::kEventWait};
    node.event = event;
    return enqueue(stream, std::move(node));
  }
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  if (event->record == nullptr) return cudaSuccess;
  add_before(&queue_of(device_of(stream), stream).before, event->before);
  give(device_of(stream), stream,
       {0, [record = event->record] { race_acquire(record.get()); },
        [record = event->record] { return record->is_reached; }});
  return cudaSuccess;
}

cudaError_t destroy_stream(cudaStream_t stream) {
  if (state().streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
  const int device = stream->device;
  if (CapturePoint* point = captured(stream);
      point != nullptr && point->capture->origin == stream) {
    end_capture(point->capture.get());
  }
  drain(device, stream);
  remove_queue(device, stream);
  return destroy(state().streams, stream);
}

cudaError_t enqueue_host_function(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return enqueue(
      stream, [=] { function(data); }, NodeKind::kHost);
}

}  // namespace kernkit::simulator::core

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call("cudaStreamCreate", ApiScope::kDevice,
              [&] { return core::create_stream(stream, 0, kLeastPriority); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags", ApiScope::kDevice,
              [&] { return core::create_stream(stream, flags, kLeastPriority); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call("cudaStreamCreateWithPriority", ApiScope::kDevice,
              [&] { return core::create_stream(stream, flags, priority); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", ApiScope::kHost, [&] { return core::destroy_stream(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", ApiScope::kDevice,
              [&] { return core::wait_for_stream(stream); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", ApiScope::kDevice, [&] { return core::query_stream(stream); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call("cudaStreamWaitEvent", ApiScope::kDevice,
              [&] { return core::wait_in_stream(stream, event, flags); });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", ApiScope::kDevice,
              [&] { return core::enqueue_host_function(stream, function, data); });
}

}  // extern "C"
