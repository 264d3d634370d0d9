// SPDX-License-Identifier: Apache-2.0
// Capture: work enqueued in captured streams becomes nodes of a graph. Source of the rules: CUDA
// C++ Programming Guide, "Creating a Graph Using Stream Capture", and cuda_runtime_api.h at
// cudaStreamBeginCapture, cudaStreamEndCapture and cudaThreadExchangeStreamCaptureMode.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

// The object that a cudaGraphNode_t points to. Its address identifies a node of a graph, and the
// same node in all executable graphs made from the graph.
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
  kEventWait = 6,
  kEventRecord = 7,
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
  void* allocates = nullptr;    // memory that the node allocates; null for other nodes
  void* frees = nullptr;        // memory that the node frees; null for other nodes
  CUevent_st* event = nullptr;  // recorded or awaited event; null for other nodes
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
  CUgraph_st* graph = nullptr;  // graph whose handle the program read during the capture, or null
};

/// The position of a stream, or of a recorded event, in a capture; `capture` is null outside of
/// captures.
struct CapturePoint {
  std::shared_ptr<Capture> capture;
  std::vector<size_t> nodes;                  // nodes that the next node depends on
  std::vector<CUgraphNode_st*> handles = {};  // handles of `nodes`, stored by core::read_capture()
  std::vector<uint64_t> edges = {};           // data of the dependencies, 8 bytes each, all zero
};

/// Returns the position of a stream in its capture; null if the stream is not captured.
CapturePoint* captured(cudaStream_t stream);
/// Adds a node that depends on the nodes at a point of a capture, and moves the point to the new
/// node.
void add_node(CapturePoint* point, GraphNode node);
/// Makes a captured stream wait for an event of the same capture. A stream that is not captured
/// joins the capture of the event.
cudaError_t wait_in_capture(cudaStream_t stream, cudaEvent_t event);
/// Ends a capture. All streams of the capture leave the captured state.
void end_capture(Capture* capture);
/// Returns whether the next node of the capture's origin stream would depend, directly or
/// indirectly, on every node of the capture.
bool is_joined(const Capture& capture);

// The following functions return whether a capture forbids a call. Except
// legacy_stream_is_unusable(), the functions also invalidate the captures that forbid the call.

/// Returns whether a capture forbids potentially unsafe calls in this thread, and invalidates such
/// captures.
bool reject_unsafe_call();
/// Returns whether a capture of a blocking stream forbids the use of the legacy stream, and
/// invalidates such captures.
bool reject_legacy_stream(int device);
/// Returns whether a capture forbids the use of the legacy stream, without invalidating the
/// capture.
bool legacy_stream_is_unusable(int device);
/// Returns whether a capture forbids waiting for the device, and invalidates such captures.
bool reject_device(int device);

/// Returns the nodes of a graph and of its child graphs as one list, in which each node follows the
/// nodes that it depends on.
std::vector<GraphNode> flattened(const std::vector<GraphNode>& nodes);
/// Returns an error if a launch of a flattened graph would allocate memory that is still allocated
/// by the last launch, or free memory that is not allocated. hold_memory_of_launch() records the
/// allocations and frees of a launch.
cudaError_t check_memory_of_launch(const std::vector<GraphNode>& nodes);
void hold_memory_of_launch(const std::vector<GraphNode>& nodes);
/// Reserves device memory for the allocations of an executable graph, unless the memory is reserved
/// already. The memory stays reserved until trim_graph_memory() releases it, another executable
/// graph takes it over, or `exec` is destroyed. `launches` is the number of launches of `exec`,
/// including a launch that is about to begin. Returns cudaErrorMemoryAllocation if the device has
/// too little memory.
cudaError_t count_graph_memory(const CUgraphExec_st& exec, cudaStream_t stream, unsigned launches);
/// Releases memory that is reserved for graphs of a device and that no launch uses.
void trim_graph_memory(int device);
/// Enqueues the nodes of a flattened graph in a stream, in an order that their dependencies allow;
/// the seed selects the order.
void launch(const std::vector<GraphNode>& nodes, int device, cudaStream_t stream);

}  // namespace kernkit::simulator
