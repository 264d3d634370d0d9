// SPDX-License-Identifier: Apache-2.0
// Capture: what its streams are given becomes nodes of a graph instead of work. Source of the
// rules: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture", and
// cuda_runtime_api.h at cudaStreamBeginCapture, cudaStreamEndCapture and
// cudaThreadExchangeStreamCaptureMode.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

struct CUgraphExec_st;

// What cudaGraphNode_t points to: its address identifies a node of a graph, and the same node in
// what was instantiated from the graph.
struct CUgraphNode_st {};

namespace kernkit::simulator {

// Work in the order in which it was given.
using Work = std::function<void()>;

/// What a node does, by the numbers of cudaGraphNodeType.
enum class NodeKind : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kMemAlloc = 10,
  kMemFree = 11,
};

/// A piece of work of a graph, or a whole graph in its place.
struct GraphNode {
  Work work;
  std::vector<size_t> after = {};  // the nodes that come before it, by their numbers
  NodeKind kind = NodeKind::kEmpty;
  std::vector<GraphNode> graph = {};
  std::shared_ptr<CUgraphNode_st> handle = nullptr;
  void* allocates = nullptr;  // memory of the graph; null for a node of another kind
  void* frees = nullptr;      // memory of a graph; likewise
};

/// From cudaStreamBeginCapture() to cudaStreamEndCapture().
struct Capture {
  CUstream_st* origin;  // where it began and must end
  cudaStreamCaptureMode mode;
  unsigned long thread;  // that began it
  bool invalidated;
  bool ended;
  std::vector<GraphNode> nodes;
};

/// The position of a stream, or of a recorded event, in a capture; none without `capture`.
struct CapturePoint {
  std::shared_ptr<Capture> capture;
  std::vector<size_t> nodes;  // what comes next waits for these
};

/// The point of a stream; null for a default stream, and outside of a capture.
CapturePoint* captured(cudaStream_t stream);
/// Makes work the next node of a captured stream.
void add_node(CapturePoint* point, GraphNode node);
/// Makes a stream wait in a capture, or join the one that the event was recorded in.
cudaError_t wait_in_capture(cudaStream_t stream, cudaEvent_t event);
/// No stream is captured by it any longer.
void end_capture(Capture* capture);
/// Whether each of its nodes comes before what the origin does next.
bool is_joined(const Capture& capture);

// Calls that a capture forbids invalidate the capture. Each function returns whether there is one.

/// Whether a capture forbids potentially unsafe calls in this thread; invalidates that capture.
bool reject_unsafe_call();
/// Whether a capture of a blocking stream forbids the legacy stream; invalidates that capture.
bool reject_legacy_stream(int device);
/// The same, invalidating none.
bool legacy_stream_is_unusable(int device);
/// Whether a capture forbids waiting for the device; invalidates that capture.
bool reject_device(int device);

/// The nodes of a graph, those of graphs within it among them, in an order that keeps `after`.
std::vector<GraphNode> flattened(const std::vector<GraphNode>& nodes);
/// Whether the memory of a graph, flattened, allows its launch; and what the host has after that.
cudaError_t check_memory_of_launch(const std::vector<GraphNode>& nodes);
void hold_memory_of_launch(const std::vector<GraphNode>& nodes);
/// Memory of the device for what an instance allocates, from its first launch or upload on: counted
/// by the pool of graphs until trim_graph_memory(), another instance or the end of the instance
/// takes it. `launches`: of the instance, the coming launch among them.
/// cudaErrorMemoryAllocation where the device has too little.
cudaError_t count_graph_memory(const CUgraphExec_st& exec, cudaStream_t stream, unsigned launches);
/// Gives back memory of graphs that no launch uses and that is freed.
void trim_graph_memory(int device);
/// Destroys an instance. Memory that it alone has, and that is freed, is used no longer.
cudaError_t destroy_instance(CUgraphExec_st* exec);
/// Gives the nodes to a stream, in any order that they allow, by the seed.
void launch(const std::vector<GraphNode>& nodes, int device, cudaStream_t stream);

}  // namespace kernkit::simulator
