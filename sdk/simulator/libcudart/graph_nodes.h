// SPDX-License-Identifier: Apache-2.0
// The core's graphs that a program builds node by node.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "libcudart/structures.h"

namespace kernkit::simulator::core {

/// The graph and the dependencies of a new node, and the destination of the node's handle.
struct NodePosition {
  cudaGraphNode_t* handle;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  size_t count;
};

cudaError_t add_kernel_node(const NodePosition& position, const KernelNodeParams* parameters);
cudaError_t add_copy_node(const NodePosition& position, const Memcpy3DParms* parameters);
cudaError_t add_copy_node(const NodePosition& position, void* to, const void* from, size_t size,
                          cudaMemcpyKind kind);
cudaError_t add_fill_node(const NodePosition& position, const MemsetParams* parameters);
cudaError_t add_host_node(const NodePosition& position, const HostNodeParams* parameters);
/// Adds a node that records an event. add_event_wait_node() adds a node that waits for the last
/// record of an event before the launch of the graph.
cudaError_t add_event_record_node(const NodePosition& position, cudaEvent_t event);
cudaError_t add_event_wait_node(const NodePosition& position, cudaEvent_t event);
cudaError_t add_empty_node(const NodePosition& position);
cudaError_t add_child_graph(const NodePosition& position, cudaGraph_t child);
cudaError_t add_allocation_node(const NodePosition& position, MemAllocNodeParams* parameters);
cudaError_t add_free_node(const NodePosition& position, void* memory);

cudaError_t clone_graph(cudaGraph_t* copy, cudaGraph_t graph);
/// Stores the type of the node, a value of cudaGraphNodeType.
cudaError_t read_node_type(cudaGraphNode_t node, int* type);
/// The size of cudaGraphEdgeData [bytes]. All members of the simulator's edges are 0.
inline constexpr size_t kEdgeDataSize = 8;
/// Writes, for each dependency of a graph, a node to `from` and the node that depends on that node
/// to `to`. The arrays have `*count` elements; unused elements become null, and *count becomes the
/// number of written dependencies. If `to` is null, stores the number of dependencies in *count.
/// `edges` may be null.
cudaError_t list_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, void* edges,
                       size_t* count);
/// Writes a graph to a file as text of Graphviz: a node for each node of the graph and of its child
/// graphs, with its type, and an edge for each dependency. Returns cudaErrorOperatingSystem if the
/// file cannot be written.
cudaError_t print_graph(cudaGraph_t graph, const char* path);
/// Writes the nodes on which `node` depends. list_dependent_nodes() writes the nodes that depend on
/// `node`. The arrays and *count are as for list_edges().
cudaError_t list_dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* edges,
                              size_t* count);
cudaError_t list_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* edges,
                                 size_t* count);
/// Stores the event of the node in *event. `kind` is the expected type of the node, a value of
/// cudaGraphNodeType; for a node of another type, returns cudaErrorInvalidValue.
cudaError_t read_event_of_node(cudaGraphNode_t node, int kind, cudaEvent_t* event);
/// Stores the parameters of a node that allocates memory. read_free_node() stores the address that
/// a node frees.
cudaError_t read_allocation_node(cudaGraphNode_t node, MemAllocNodeParams* parameters);
cudaError_t read_free_node(cudaGraphNode_t node, void** memory);
cudaError_t set_kernel_of_instance(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   const KernelNodeParams* parameters);
cudaError_t update_instance(cudaGraphExec_t exec, cudaGraph_t graph,
                            GraphExecUpdateResultInfo* info);

}  // namespace kernkit::simulator::core
