// SPDX-License-Identifier: Apache-2.0
// Queries of a stream's properties, and older names of functions. Source of the rules:
// cuda_runtime_api.h of CUDA 13.0 at the functions' names.
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

using Callback = void (*)(cudaStream_t stream, cudaError_t status, void* data);

// Runs a call that returns a property of a stream in `*to`.
template <class T, class Value>
cudaError_t read_property(const char* function, cudaStream_t stream, T* to, const Value& value) {
  return call(function, Reach::kHost, [&] {
    if (to == nullptr) return cudaErrorInvalidValue;
    if (!knows(stream)) return cudaErrorInvalidResourceHandle;
    *to = value();
    return cudaSuccess;
  });
}

unsigned long long id_of(cudaStream_t stream) {
  constexpr unsigned long long kLegacy = 1, kPerThread = 2;
  if (stream == cudaStreamPerThread) return kPerThread;
  return is_default_stream(stream) ? kLegacy : kPerThread + stream->number;
}

cudaError_t add_callback(cudaStream_t stream, Callback callback, void* data, unsigned flags) {
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

}  // namespace
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return read_property("cudaStreamGetFlags", stream, flags, [&] {
    return !is_default_stream(stream) && stream->non_blocking ? cudaStreamNonBlocking
                                                              : cudaStreamDefault;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return read_property("cudaStreamGetPriority", stream, priority,
                       [&] { return is_default_stream(stream) ? 0 : stream->priority; });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return read_property("cudaStreamGetDevice", stream, device, [&] { return device_of(stream); });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return read_property("cudaStreamGetId", stream, id, [&] { return id_of(stream); });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, Callback callback, void* data,
                                  unsigned flags) {
  return call("cudaStreamAddCallback", Reach::kDevice,
              [&] { return add_callback(stream, callback, data, flags); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  constexpr unsigned kDefault = 0, kExternal = 1;
  return call("cudaEventRecordWithFlags", Reach::kDevice, [&] {
    if (flags != kDefault && flags != kExternal) return cudaErrorInvalidValue;
    if (flags == kExternal && captured(stream) != nullptr) {
      return reject_argument(
          "flags: cudaEventRecordExternal, a node of a graph that records an event, is not "
          "supported; record the event after the launch of the graph",
          cudaErrorNotSupported);
    }
    return cudaEventRecord(event, stream);
  });
}

}  // extern "C"
