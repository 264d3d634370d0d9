// SPDX-License-Identifier: Apache-2.0
// Streams, events and captures of the driver's API.
#include "runtime/core/streams.h"

#include "libcuda/driver_call.h"
#include "libcudart/stream_properties.h"
#include "runtime/core/events.h"
#include "runtime/core/graphs.h"

namespace kernkit::simulator::driver {
namespace {

using core::StreamProperties;

cudaError_t create_stream(CUstream* stream, unsigned flags, int priority) {
  if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) return cudaErrorInvalidValue;
  return core::create_stream(stream, flags, priority);
}

template <class T>
CUresult read_property(const char* function, CUstream stream, T* to, T StreamProperties::*member) {
  return call(function, ApiScope::kHost, [&] {
    StreamProperties properties{};
    const cudaError_t error = core::read_stream(stream, to != nullptr ? &properties : nullptr);
    if (error == cudaSuccess && to != nullptr) *to = properties.*member;
    return error;
  });
}

cudaError_t create_event(CUevent* event, unsigned flags) {
  constexpr unsigned kAll =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  constexpr unsigned kShared = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
  if ((flags & ~kAll) != 0) return cudaErrorInvalidValue;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & kShared) != kShared) {
    return cudaErrorInvalidValue;
  }
  return core::create_event(event, flags);
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return call("cuStreamCreate", ApiScope::kDevice, [&] { return create_stream(stream, flags, 0); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call("cuStreamCreateWithPriority", ApiScope::kDevice,
              [&] { return create_stream(stream, flags, priority); });
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return call("cuStreamDestroy", ApiScope::kHost, [&] { return core::destroy_stream(stream); });
}
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }
CUresult cuStreamSynchronize(CUstream stream) {
  return call("cuStreamSynchronize", ApiScope::kDevice,
              [&] { return core::wait_for_stream(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return call("cuStreamQuery", ApiScope::kDevice, [&] { return core::query_stream(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return call("cuStreamWaitEvent", ApiScope::kDevice,
              [&] { return core::wait_in_stream(stream, event, flags); });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  return call("cuStreamAddCallback", ApiScope::kDevice, [&] {
    return core::add_callback(stream, reinterpret_cast<core::StreamCallback>(callback), data,
                              flags);
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call("cuLaunchHostFunc", ApiScope::kDevice, [&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    return core::enqueue_host_function(stream, function, data);
  });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return read_property("cuStreamGetFlags", stream, flags, &StreamProperties::flags);
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return read_property("cuStreamGetPriority", stream, priority, &StreamProperties::priority);
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return read_property("cuStreamGetDevice", stream, device, &StreamProperties::device);
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return read_property("cuStreamGetId", stream, id, &StreamProperties::id);
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call("cuStreamGetCtx", ApiScope::kHost,
              [&] { return core::read_context_of_stream(stream, context); });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;  // no green context exists
  return cuStreamGetCtx(stream, context);
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call("cuEventCreate", ApiScope::kDevice, [&] { return create_event(event, flags); });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return call("cuEventDestroy", ApiScope::kHost, [&] { return core::destroy_event(event); });
}
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call("cuEventRecord", ApiScope::kDevice,
              [&] { return core::record_event(event, stream, 0); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return call("cuEventRecordWithFlags", ApiScope::kDevice,
              [&] { return core::record_event(event, stream, flags); });
}
CUresult cuEventSynchronize(CUevent event) {
  return call("cuEventSynchronize", ApiScope::kDevice, [&] { return core::wait_for_event(event); });
}
CUresult cuEventQuery(CUevent event) {
  return call("cuEventQuery", ApiScope::kDevice, [&] { return core::query_event(event); });
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return call("cuEventElapsedTime", ApiScope::kDevice,
              [&] { return core::read_elapsed_time(milliseconds, start, end); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return call("cuStreamBeginCapture", ApiScope::kDevice, [&] {
    return core::begin_capture(stream, static_cast<cudaStreamCaptureMode>(mode));
  });
}
CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call("cuStreamEndCapture", ApiScope::kDevice,
              [&] { return core::take_graph(stream, graph); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return call("cuStreamIsCapturing", ApiScope::kHost, [&] {
    return core::read_capture_status(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** edges, size_t* count) {
  return call("cuStreamGetCaptureInfo", ApiScope::kHost, [&] {
    // cuuint64_t may be unsigned long, which has the size of unsigned long long.
    auto* const number = reinterpret_cast<unsigned long long*>(id);
    return core::read_capture(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status),
                              {number, graph, nodes, reinterpret_cast<const void**>(edges), count});
  });
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call("cuThreadExchangeStreamCaptureMode", ApiScope::kHost, [&] {
    return core::exchange_capture_mode(reinterpret_cast<cudaStreamCaptureMode*>(mode));
  });
}

}  // extern "C"
