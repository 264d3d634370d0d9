// SPDX-License-Identifier: Apache-2.0
// The core's captures and graphs.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kernkit::simulator::core {

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
/// Ends the capture of a stream, and stores its graph.
cudaError_t take_graph(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t read_capture_status(cudaStream_t stream, cudaStreamCaptureStatus* status);
/// Results of read_capture(), each of which may be null.
struct CaptureResults {
  unsigned long long* id;         // number of the capture
  cudaGraph_t* graph;             // graph with the nodes so far, which becomes the captured graph
  const cudaGraphNode_t** nodes;  // nodes that the next node depends on, until the next work
  const void** edges;             // data of the dependencies, of which no dependency has any
  size_t* count;                  // number of `nodes`
};
/// Reads the capture of a stream. Without a capture, only the status is stored.
cudaError_t read_capture(cudaStream_t stream, cudaStreamCaptureStatus* status,
                         const CaptureResults& results);
/// Exchanges the capture mode of the thread.
cudaError_t exchange_capture_mode(cudaStreamCaptureMode* mode);

cudaError_t create_graph(cudaGraph_t* graph, unsigned flags);
cudaError_t destroy_graph(cudaGraph_t graph);
/// Writes the nodes, or the nodes without dependencies, into an array of `*count` elements,
/// followed by nulls. Without an array, writes the number of nodes to `*count`.
cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t list_root_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t launch_graph(cudaGraphExec_t exec, cudaStream_t stream);
/// An upload copies nothing; it only takes its position in the order of the stream.
cudaError_t upload_graph(cudaGraphExec_t exec, cudaStream_t stream);
/// Destroys an executable graph, and releases its freed memory.
cudaError_t destroy_instance(cudaGraphExec_t exec);

}  // namespace kernkit::simulator::core
