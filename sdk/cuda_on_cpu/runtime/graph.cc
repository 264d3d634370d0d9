// SPDX-License-Identifier: Apache-2.0
// Capture, and graphs.
#include <utility>

#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

bool is_capture_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (is_default_stream(stream)) return cudaErrorStreamCaptureUnsupported;
  if (!knows(stream)) return cudaErrorInvalidResourceHandle;
  if (!is_capture_mode(mode)) return cudaErrorInvalidValue;
  if (captured(stream) != nullptr) return cudaErrorIllegalState;
  stream->point.capture =
      std::make_shared<Capture>(Capture{stream, mode, thread_number(), false, false, {}});
  return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  if (!knows(stream)) return cudaErrorInvalidResourceHandle;
  if (captured(stream) == nullptr) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = captured(stream)->capture;
  if (capture->origin != stream) {
    capture->invalidated = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != thread_number()) {
    capture->invalidated = true;
    return cudaErrorStreamCaptureWrongThread;
  }
  const bool joined = is_joined(*capture);
  end_capture(capture.get());
  if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (!joined) return cudaErrorStreamCaptureUnjoined;
  *graph = new CUgraph_st{std::move(capture->nodes)};
  state().graphs.insert(*graph);
  return cudaSuccess;
}

cudaError_t capture_status(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  if (!knows(stream)) return cudaErrorInvalidResourceHandle;
  if (const CapturePoint* point = captured(stream)) {
    *status = point->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  }
  const bool legacy = is_default_stream(stream) && stream != cudaStreamPerThread;
  return legacy && legacy_stream_is_unusable(device_of(stream)) ? cudaErrorStreamCaptureImplicit
                                                                : cudaSuccess;
}

// A graph that allocates memory has one instance at a time.
bool is_instantiated(const std::vector<GraphNode>& nodes) {
  std::set<void*> memory;
  for (const GraphNode& node : nodes) memory.insert(node.allocates);
  memory.erase(nullptr);
  for (const CUgraphExec_st* exec : state().execs) {
    for (const GraphNode& node : exec->nodes) {
      if (memory.count(node.allocates) != 0) return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", Reach::kDevice,
              [&] { return begin_capture(stream, mode); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", Reach::kDevice, [&] { return end_capture(stream, graph); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", Reach::kHost,
              [&] { return capture_status(stream, status); });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", Reach::kHost, [&] {
    if (!is_capture_mode(*mode)) return cudaErrorInvalidValue;
    *mode = std::exchange(thread_state().capture_mode, *mode);
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
  return call("cudaGraphInstantiate", Reach::kUnsafe, [&] {
    if (state().graphs.count(graph) == 0) return cudaErrorInvalidValue;
    std::vector<GraphNode> nodes = flattened(graph->nodes);
    if (is_instantiated(nodes)) {
      return reject_argument("graph: it allocates memory and is instantiated already",
                             cudaErrorNotSupported);
    }
    *exec = new CUgraphExec_st{std::move(nodes)};
    state().execs.insert(*exec);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", Reach::kDevice, [&] {
    if (state().execs.count(exec) == 0) return cudaErrorInvalidValue;
    const bool runs = knows(stream) && captured(stream) == nullptr;  // else a node of another graph
    const cudaError_t invalid = runs ? check_memory_of_launch(exec->nodes) : cudaSuccess;
    if (invalid != cudaSuccess) return invalid;
    const cudaError_t error = enqueue(stream, GraphNode{[] {}, {}, false, exec->nodes});
    if (error == cudaSuccess && runs) {
      hold_memory_of_launch(exec->nodes);
      note_kernel(device_of(stream), stream);
    }
    return error;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", Reach::kHost, [&] { return destroy(state().graphs, graph); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call("cudaGraphExecDestroy", Reach::kHost, [&] { return destroy(state().execs, exec); });
}

}  // extern "C"
