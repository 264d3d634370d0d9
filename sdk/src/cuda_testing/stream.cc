// SPDX-License-Identifier: Apache-2.0
// Streams, events, capture and graphs.
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

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->device = thread_state().device;
  (*event)->timing = (flags & cudaEventDisableTiming) == 0;
  state().events.insert(*event);
  return cudaSuccess;
}

bool knows(cudaStream_t stream) {
  return is_default_stream(stream) || state().streams.count(stream) != 0;
}
bool knows(cudaEvent_t event) { return state().events.count(event) != 0; }

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

template <class T>
cudaError_t destroy(std::set<T*>& all, T* object) {
  if (all.erase(object) == 0) return cudaErrorInvalidResourceHandle;
  delete object;
  return cudaSuccess;
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
          [wanted, reached = event->reached] { return *reached >= wanted; }});
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", Reach::kDevice,
              [&] { return enqueue(stream, [=] { function(data); }); });
}

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

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", Reach::kDevice, [&] {
    if (is_default_stream(stream)) return cudaErrorStreamCaptureUnsupported;
    if (!knows(stream)) return cudaErrorInvalidResourceHandle;
    if (stream->capturing) return cudaErrorStreamCaptureUnmatched;
    stream->capturing = true;
    stream->invalidated = false;
    stream->mode = mode;
    stream->thread = thread_number();
    stream->graph = new CUgraph_st;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", Reach::kDevice, [&] {
    *graph = nullptr;
    if (is_default_stream(stream) || !knows(stream)) return cudaErrorInvalidResourceHandle;
    if (!stream->capturing) return cudaErrorStreamCaptureUnmatched;
    stream->capturing = false;
    CUgraph_st* captured = stream->graph;
    stream->graph = nullptr;
    if (stream->invalidated) {
      stream->invalidated = false;
      delete captured;
      return cudaErrorStreamCaptureInvalidated;
    }
    state().graphs.insert(captured);
    *graph = captured;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", Reach::kHost, [&] {
    *status = cudaStreamCaptureStatusNone;
    if (!knows(stream)) return cudaErrorInvalidResourceHandle;
    if (is_default_stream(stream)) {
      return capture_forbids_unsafe_calls() ? cudaErrorStreamCaptureImplicit : cudaSuccess;
    }
    if (stream->capturing) *status = cudaStreamCaptureStatusActive;
    if (stream->invalidated) *status = cudaStreamCaptureStatusInvalidated;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call("cudaGraphGetNodes", Reach::kHost, [&] {
    if (state().graphs.count(graph) == 0 || nodes != nullptr) return cudaErrorInvalidValue;
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call("cudaGraphInstantiate", Reach::kDevice, [&] {
    if (state().graphs.count(graph) == 0) return cudaErrorInvalidValue;
    *exec = new CUgraphExec_st{graph->nodes};
    state().execs.insert(*exec);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", Reach::kDevice, [&] {
    if (state().execs.count(exec) == 0) return cudaErrorInvalidValue;
    return enqueue(stream, [nodes = exec->nodes] {
      for (const Work& node : nodes) node();
    });
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", Reach::kHost, [&] { return destroy(state().graphs, graph); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call("cudaGraphExecDestroy", Reach::kHost, [&] { return destroy(state().execs, exec); });
}

}  // extern "C"
