// SPDX-License-Identifier: Apache-2.0
// Capture, and graphs.
#include "state.h"

using namespace kernkit::testing;  // NOLINT(build/namespaces): these are its functions

extern "C" {

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
