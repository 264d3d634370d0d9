// SPDX-License-Identifier: Apache-2.0
// Queries of a stream's properties, callbacks in streams, and cudaEventRecordWithFlags(). Source of
// the rules: cuda_runtime_api.h of CUDA 13.0 at the functions' names.
#include "libcudart/stream_properties.h"

#include "runtime/core/events.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

using core::StreamProperties;

// Runs the API function `function`, which stores a property of a stream in *to.
template <class T>
cudaError_t read_property(const char* function, cudaStream_t stream, T* to,
                          T StreamProperties::*member) {
  return call(function, ApiScope::kHost, [&] {
    StreamProperties properties{};
    const cudaError_t error = core::read_stream(stream, to != nullptr ? &properties : nullptr);
    if (error == cudaSuccess) *to = properties.*member;
    return error;
  });
}

unsigned long long id_of(cudaStream_t stream) {
  constexpr unsigned long long kLegacy = 1, kPerThread = 2;
  if (stream == cudaStreamPerThread) return kPerThread;
  return is_default_stream(stream) ? kLegacy : kPerThread + stream->number;
}

}  // namespace

cudaError_t core::add_callback(cudaStream_t stream, StreamCallback callback, void* data,
                               unsigned flags) {
  if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  if (CapturePoint* point = captured(stream)) {
    point->capture->invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  return enqueue(
      stream, [=] { callback(stream, cudaSuccess, data); }, NodeKind::kHost);
}

cudaError_t core::read_stream(cudaStream_t stream, StreamProperties* properties) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  const bool is_default = is_default_stream(stream);
  properties->flags =
      !is_default && stream->non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
  properties->priority = is_default ? 0 : stream->priority;
  properties->device = device_of(stream);
  properties->id = id_of(stream);
  return cudaSuccess;
}

}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return read_property("cudaStreamGetFlags", stream, flags, &StreamProperties::flags);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return read_property("cudaStreamGetPriority", stream, priority, &StreamProperties::priority);
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return read_property("cudaStreamGetDevice", stream, device, &StreamProperties::device);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return read_property("cudaStreamGetId", stream, id, &StreamProperties::id);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, core::StreamCallback callback, void* data,
                                  unsigned flags) {
  return call("cudaStreamAddCallback", ApiScope::kDevice,
              [&] { return core::add_callback(stream, callback, data, flags); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call("cudaEventRecordWithFlags", ApiScope::kDevice,
              [&] { return core::record_event(event, stream, flags); });
}

}  // extern "C"
