// SPDX-License-Identifier: Apache-2.0
// Capture and graph functions of the runtime.
#include <algorithm>
#include <utility>

#include "platform/sanitizers.h"
#include "runtime/core/graphs.h"
#include "runtime/core/memory.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

bool is_capture_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

}  // namespace

cudaError_t core::begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (is_default_stream(stream)) return cudaErrorStreamCaptureUnsupported;
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  if (!is_capture_mode(mode)) return cudaErrorInvalidValue;
  if (captured(stream) != nullptr) return cudaErrorIllegalState;
  stream->point.capture =
      std::make_shared<Capture>(Capture{stream, mode, thread_number(), false, false, {}});
  stream->point.capture->id = ++state().captures_begun;
  return cudaSuccess;
}

cudaError_t core::take_graph(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
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
  if (capture->invalidated || !joined) {
    destroy(state().graphs, capture->graph);
    return capture->invalidated ? cudaErrorStreamCaptureInvalidated
                                : cudaErrorStreamCaptureUnjoined;
  }
  *graph = state().graphs.count(capture->graph) != 0 ? capture->graph : new CUgraph_st;
  (*graph)->nodes = std::move(capture->nodes);
  state().graphs.insert(*graph);
  return cudaSuccess;
}

cudaError_t core::read_capture_status(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return cudaErrorInvalidValue;
  *status = cudaStreamCaptureStatusNone;
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  if (const CapturePoint* point = captured(stream)) {
    *status = point->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  }
  const bool legacy = is_default_stream(stream) && stream != cudaStreamPerThread;
  return legacy && legacy_stream_is_unusable(device_of(stream)) ? cudaErrorStreamCaptureImplicit
                                                                : cudaSuccess;
}

cudaError_t core::read_capture(cudaStream_t stream, cudaStreamCaptureStatus* status,
                               const CaptureResults& results) {
  const cudaError_t error = read_capture_status(stream, status);
  if (error != cudaSuccess || *status != cudaStreamCaptureStatusActive) return error;
  CapturePoint& point = *captured(stream);
  Capture& capture = *point.capture;
  if (results.graph != nullptr) {
    if (capture.graph == nullptr) capture.graph = *state().graphs.insert(new CUgraph_st).first;
    if (state().graphs.count(capture.graph) != 0) capture.graph->nodes = capture.nodes;
    *results.graph = capture.graph;
  }
  point.handles.clear();
  for (const size_t node : point.nodes) point.handles.push_back(capture.nodes[node].handle.get());
  if (results.id != nullptr) *results.id = capture.id;
  if (results.nodes != nullptr) *results.nodes = point.handles.data();
  point.edges.assign(point.handles.size(), 0);
  if (results.edges != nullptr) *results.edges = point.edges.data();
  if (results.count != nullptr) *results.count = point.handles.size();
  return cudaSuccess;
}

cudaError_t core::exchange_capture_mode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr || !is_capture_mode(*mode)) return cudaErrorInvalidValue;
  *mode = std::exchange(thread_state().capture_mode, *mode);
  return cudaSuccess;
}

namespace {

cudaError_t list(const std::vector<cudaGraphNode_t>& handles, cudaGraphNode_t* nodes,
                 size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (nodes == nullptr) {
    *count = handles.size();
    return cudaSuccess;
  }
  for (size_t i = 0; i < *count; ++i) nodes[i] = i < handles.size() ? handles[i] : nullptr;
  *count = std::min(*count, handles.size());
  return cudaSuccess;
}

// Returns whether an executable graph that contains one of the allocation nodes in `nodes` exists.
// A graph with allocation nodes can have only one executable graph at a time.
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

constexpr unsigned long long kAutoFreeOnLaunch = 1, kDeviceLaunch = 4, kUseNodePriority = 8;

}  // namespace

cudaError_t core::instantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  constexpr auto kAll = kAutoFreeOnLaunch | kDeviceLaunch | kUseNodePriority;
  if (exec == nullptr || state().graphs.count(graph) == 0) return cudaErrorInvalidValue;
  if ((flags & ~kAll) != 0) return cudaErrorInvalidValue;
  if ((flags & kDeviceLaunch) != 0) {
    if ((flags & kAutoFreeOnLaunch) != 0) return cudaErrorInvalidValue;
    return reject_argument(
        "cudaGraphInstantiateFlagDeviceLaunch: kernels cannot launch graphs; launch the graph from "
        "the host",
        cudaErrorNotSupported);
  }
  std::vector<GraphNode> nodes = flattened(graph->nodes);
  if (is_instantiated(nodes)) {
    return reject_argument(
        "graph: a graph with memory allocation nodes can have one executable graph at a time; call "
        "cudaGraphExecDestroy() on the existing one first",
        cudaErrorNotSupported);
  }
  *exec = new CUgraphExec_st{std::move(nodes), (flags & kAutoFreeOnLaunch) != 0, 0,
                             graph->user_objects};
  state().execs.insert(*exec);
  return cudaSuccess;
}

namespace {

// Makes the stream wait for all earlier launches of the executable graph.
void wait_for_launches(cudaGraphExec_t exec, cudaStream_t stream) {
  give(device_of(stream), stream,
       {0, [ended = exec->ended] { race_acquire(ended.get()); },
        [launches = exec->launches, ended = exec->ended] { return *ended >= launches; }});
}

// Frees memory that earlier launches of the executable graph allocated and no call has freed.
cudaError_t free_memory_of(const CUgraphExec_st& exec, cudaStream_t stream) {
  for (const GraphNode& node : exec.nodes) {
    if (node.allocates == nullptr || !state().allocations.at(node.allocates).held) continue;
    const cudaError_t error = core::free_async(node.allocates, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t core::launch_graph(cudaGraphExec_t exec, cudaStream_t stream) {
  if (state().execs.count(exec) == 0) return cudaErrorInvalidValue;
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  const GraphNode node{[] {}, {}, NodeKind::kGraph, exec->nodes};
  if (captured(stream) != nullptr) return enqueue(stream, node);  // the node is a child graph
  wait_for_launches(exec, stream);
  if (exec->frees_on_launch) {
    const cudaError_t error = free_memory_of(*exec, stream);
    if (error != cudaSuccess) return error;
  }
  const cudaError_t invalid = check_memory_of_launch(exec->nodes);
  if (invalid != cudaSuccess) return invalid;
  const cudaError_t no_memory = count_graph_memory(*exec, stream, exec->launches + 1);
  if (no_memory != cudaSuccess) return no_memory;
  const cudaError_t error = enqueue(stream, node);
  if (error != cudaSuccess) return error;
  hold_memory_of_launch(exec->nodes);
  note_kernel(device_of(stream), stream);
  ++exec->launches;
  give(device_of(stream), stream,
       {0,
        [ended = exec->ended, references = exec->user_objects] {
          race_release(ended.get());
          ++*ended;
        },
        nullptr});
  return cudaSuccess;
}

cudaError_t core::upload_graph(cudaGraphExec_t exec, cudaStream_t stream) {
  if (state().execs.count(exec) == 0) return cudaErrorInvalidValue;
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  if (captured(stream) != nullptr) return enqueue(stream, [] {});
  wait_for_launches(exec, stream);
  const cudaError_t no_memory = count_graph_memory(*exec, stream, exec->launches);
  return no_memory != cudaSuccess ? no_memory : enqueue(stream, [] {});
}

namespace core {

cudaError_t create_graph(cudaGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
  *graph = new CUgraph_st;
  state().graphs.insert(*graph);
  return cudaSuccess;
}
cudaError_t destroy_graph(cudaGraph_t graph) { return destroy(state().graphs, graph); }

cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (state().graphs.count(graph) == 0) return cudaErrorInvalidValue;
  std::vector<cudaGraphNode_t> handles;
  for (const GraphNode& node : graph->nodes) handles.push_back(node.handle.get());
  return list(handles, nodes, count);
}
cudaError_t list_root_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (state().graphs.count(graph) == 0) return cudaErrorInvalidValue;
  std::vector<cudaGraphNode_t> handles;
  for (const GraphNode& node : graph->nodes) {
    if (node.after.empty()) handles.push_back(node.handle.get());
  }
  return list(handles, nodes, count);
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", ApiScope::kDevice,
              [&] { return core::begin_capture(stream, mode); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call("cudaStreamEndCapture", ApiScope::kDevice,
              [&] { return core::take_graph(stream, graph); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", ApiScope::kHost,
              [&] { return core::read_capture_status(stream, status); });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", ApiScope::kHost,
              [&] { return core::exchange_capture_mode(mode); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call("cudaGraphGetNodes", ApiScope::kHost,
              [&] { return core::list_nodes(graph, nodes, count); });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call("cudaGraphGetRootNodes", ApiScope::kHost,
              [&] { return core::list_root_nodes(graph, nodes, count); });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return call("cudaGraphInstantiate", ApiScope::kUnsafe,
              [&] { return core::instantiate(exec, graph, flags); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return call("cudaGraphInstantiateWithFlags", ApiScope::kUnsafe,
              [&] { return core::instantiate(exec, graph, flags); });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphUpload", ApiScope::kDevice,
              [&] { return core::upload_graph(exec, stream); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call("cudaGraphLaunch", ApiScope::kDevice,
              [&] { return core::launch_graph(exec, stream); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy", ApiScope::kHost, [&] { return core::destroy_graph(graph); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call("cudaGraphExecDestroy", ApiScope::kHost,
              [&] { return core::destroy_instance(exec); });
}

}  // extern "C"
