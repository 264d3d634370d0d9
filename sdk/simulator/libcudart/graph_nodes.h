// SPDX-License-Identifier: Apache-2.0
// The core's graphs that a program builds node by node.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "libcudart/structures.h"

namespace kernkit::simulator::core {

/// The graph and the dependencies of a new node, and where to store its handle.
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
cudaError_t add_empty_node(const NodePosition& position);
cudaError_t add_child_graph(const NodePosition& position, cudaGraph_t child);
cudaError_t add_allocation_node(const NodePosition& position, MemAllocNodeParams* parameters);
cudaError_t add_free_node(const NodePosition& position, void* memory);

cudaError_t clone_graph(cudaGraph_t* copy, cudaGraph_t graph);
/// Stores the node's type as the number in cudaGraphNodeType.
cudaError_t read_node_type(cudaGraphNode_t node, int* type);
cudaError_t set_kernel_of_instance(cudaGraphExec_t exec, cudaGraphNode_t node,
                                   const KernelNodeParams* parameters);
cudaError_t update_instance(cudaGraphExec_t exec, cudaGraph_t graph,
                            GraphExecUpdateResultInfo* info);

}  // namespace kernkit::simulator::core
