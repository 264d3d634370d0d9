// SPDX-License-Identifier: Apache-2.0
// The core's captures and graphs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
/// Ends the capture that began in a stream, and stores the captured graph.
cudaError_t take_graph(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t read_capture_status(cudaStream_t stream, cudaStreamCaptureStatus* status);
/// Destinations of read_capture(). A null pointer omits the result.
struct CaptureResults {
  unsigned long long* id;         // number of the capture
  cudaGraph_t* graph;             // graph with the nodes so far, which becomes the captured graph
  const cudaGraphNode_t** nodes;  // dependencies of the next node; valid until the node is added
  const void** edges;             // edge data of the dependencies: 8 bytes each, all zero
  size_t* count;                  // number of `nodes`
};
/// Reads the capture of a stream. Without a capture, only the status is stored.
cudaError_t read_capture(cudaStream_t stream, cudaStreamCaptureStatus* status,
                         const CaptureResults& results);
/// Sets the thread's capture mode to *mode, and stores the previous mode in *mode.
cudaError_t exchange_capture_mode(cudaStreamCaptureMode* mode);

cudaError_t create_graph(cudaGraph_t* graph, unsigned flags);
cudaError_t destroy_graph(cudaGraph_t graph);
/// Writes the nodes into an array of `*count` elements, followed by nulls, and the number of
/// written nodes to `*count`. If `nodes` is null, only writes the number of nodes.
/// list_root_nodes() lists the nodes without dependencies.
cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t list_root_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t launch_graph(cudaGraphExec_t exec, cudaStream_t stream);
/// Reserves the memory of the graph's allocations. The upload copies nothing, but is ordered in the
/// stream like other work.
cudaError_t upload_graph(cudaGraphExec_t exec, cudaStream_t stream);
/// Destroys an executable graph, and releases the freed memory of its allocations.
cudaError_t destroy_instance(cudaGraphExec_t exec);

}  // namespace kernkit::simulator::core
