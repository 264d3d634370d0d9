// SPDX-License-Identifier: Apache-2.0
// Streams.
#include "sanitizers.h"
#include "state.h"

namespace kernkit::testing {
namespace {

cudaError_t create_stream(cudaStream_t* stream, unsigned flags) {
  *stream = new CUstream_st;
  (*stream)->non_blocking = (flags & cudaStreamNonBlocking) != 0;
  (*stream)->device = thread_state().device;
  state().streams.insert(*stream);
  return cudaSuccess;
}

int device_of(cudaStream_t stream) {
  return is_default_stream(stream) ? thread_state().device : stream->device;
}

// Waiting for a stream that is captured would wait forever.
cudaError_t refuse_captured(cudaStream_t stream) {
  if (!knows(stream)) return cudaErrorInvalidResourceHandle;
  const bool captured = !is_default_stream(stream) && stream->capturing;
  if (!captured && !(is_default_stream(stream) && capture_forbids_unsafe_calls())) {
    return cudaSuccess;
  }
  invalidate_captures();
  return captured ? cudaErrorStreamCaptureUnsupported : cudaErrorStreamCaptureImplicit;
}

cudaError_t wait_for(cudaStream_t stream) {
  const cudaError_t refused = refuse_captured(stream);
  if (refused != cudaSuccess) return refused;
  drain(device_of(stream), stream);
  return error_of_device();
}

cudaError_t ask(cudaStream_t stream) {
  const cudaError_t refused = refuse_captured(stream);
  if (refused != cudaSuccess) return refused;
  some_work();
  return is_idle(device_of(stream), stream) ? error_of_device() : cudaErrorNotReady;
}

}  // namespace
}  // namespace kernkit::testing

using namespace kernkit::testing;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call("cudaStreamCreate", Reach::kDevice, [&] { return create_stream(stream, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags", Reach::kDevice,
              [&] { return create_stream(stream, flags); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return call("cudaStreamCreateWithPriority", Reach::kDevice,
              [&] { return create_stream(stream, flags); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", Reach::kHost, [&] {
    if (state().streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
    const int device = stream->device;
    drain(device, stream);
    state().queues.erase({device, stream});
    return destroy(state().streams, stream);
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", Reach::kDevice, [&] { return wait_for(stream); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", Reach::kDevice, [&] { return ask(stream); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", Reach::kDevice, [&] {
    if (!knows(stream) || !knows(event)) return cudaErrorInvalidResourceHandle;
    if (!is_default_stream(stream) && stream->capturing) return cudaSuccess;
    const unsigned wanted = event->records;
    give(device_of(stream), stream,
         {0, [reached = event->reached] { race_acquire(reached.get()); },
          [wanted, reached = event->reached] { return *reached >= wanted; }, false});
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", Reach::kDevice, [&] {
    return enqueue(
        stream, [=] { function(data); }, true);
  });
}

}  // extern "C"
