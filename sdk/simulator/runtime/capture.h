// SPDX-License-Identifier: Apache-2.0
// Capture: work enqueued in captured streams becomes nodes of a graph. Source of the rules: CUDA
// C++ Programming Guide, "Creating a Graph Using Stream Capture", and cuda_runtime_api.h at
// cudaStreamBeginCapture, cudaStreamEndCapture and cudaThreadExchangeStreamCaptureMode.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

struct CUgraph_st;
struct CUgraphExec_st;

// The target of cudaGraphNode_t. Its address identifies a node of a graph, and the same node in
// executable graphs of the graph.
struct CUgraphNode_st {};

namespace kernkit::simulator {

// A function that does the work of a task or node.
using Work = std::function<void()>;

/// The kind of a node, with the numbers of cudaGraphNodeType.
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

/// A node of a graph: work, or a child graph.
struct GraphNode {
  Work work;
  std::vector<size_t> after = {};  // indices of the nodes that this node depends on
  NodeKind kind = NodeKind::kEmpty;
  std::vector<GraphNode> graph = {};
  std::shared_ptr<CUgraphNode_st> handle = nullptr;
  void* allocates = nullptr;  // allocated memory of the graph; null for other kinds of nodes
  void* frees = nullptr;      // freed memory of a graph; null for other kinds of nodes
};

/// A stream capture, from cudaStreamBeginCapture() to cudaStreamEndCapture().
struct Capture {
  CUstream_st* origin;  // stream in which the capture began and must end
  cudaStreamCaptureMode mode;
  unsigned long thread;  // thread that began the capture
  bool invalidated;
  bool ended;
  std::vector<GraphNode> nodes;
  unsigned long long id = 0;    // position in the order of all captures, from 1 on
  CUgraph_st* graph = nullptr;  // graph that the program has read during the capture
};

/// The position of a stream, or of a recorded event, in a capture; `capture` is null outside of
/// captures.
struct CapturePoint {
  std::shared_ptr<Capture> capture;
  std::vector<size_t> nodes;                  // nodes that the next node depends on
  std::vector<CUgraphNode_st*> handles = {};  // handles of `nodes`, for core::read_capture()
};

/// Returns the point of a stream; null for a default stream, and outside of captures.
CapturePoint* captured(cudaStream_t stream);
/// Makes work the next node of a captured stream.
void add_node(CapturePoint* point, GraphNode node);
/// Makes a captured stream wait for an event, or makes a stream join the event's capture.
cudaError_t wait_in_capture(cudaStream_t stream, cudaEvent_t event);
/// Ends the capture of all of its streams.
void end_capture(Capture* capture);
/// Returns whether the next node of the capture's origin stream would depend, directly or
/// indirectly, on every node of the capture.
bool is_joined(const Capture& capture);

// A call that a capture forbids invalidates the capture. These functions return whether a capture
// forbids the call.

/// Returns whether a capture forbids potentially unsafe calls in this thread; invalidates the
/// capture.
bool reject_unsafe_call();
/// Returns whether a capture of a blocking stream forbids the legacy stream; invalidates the
/// capture.
bool reject_legacy_stream(int device);
/// Returns whether a capture forbids the legacy stream, without invalidating the capture.
bool legacy_stream_is_unusable(int device);
/// Returns whether a capture forbids waiting for the device; invalidates the capture.
bool reject_device(int device);

/// Returns the nodes of a graph and its child graphs, each after the nodes in `after`.
std::vector<GraphNode> flattened(const std::vector<GraphNode>& nodes);
/// Checks whether the memory of a flattened graph allows a launch. hold_memory_of_launch() updates
/// the host's view of the memory after the launch.
cudaError_t check_memory_of_launch(const std::vector<GraphNode>& nodes);
void hold_memory_of_launch(const std::vector<GraphNode>& nodes);
/// Reserves device memory for the allocations of an executable graph, at its first launch or
/// upload. The pool of graphs counts the memory until trim_graph_memory(), use by another
/// executable graph, or destruction. `launches` is the number of launches, including the coming
/// one. Returns cudaErrorMemoryAllocation if the device has too little memory.
cudaError_t count_graph_memory(const CUgraphExec_st& exec, cudaStream_t stream, unsigned launches);
/// Releases freed memory of graphs that no launch uses.
void trim_graph_memory(int device);
/// Enqueues the nodes in a stream, in an order that their dependencies allow, by the seed.
void launch(const std::vector<GraphNode>& nodes, int device, cudaStream_t stream);

}  // namespace kernkit::simulator
