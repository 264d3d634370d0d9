// SPDX-License-Identifier: Apache-2.0
// Faults between streams, copies and nodes of graphs.
#include "faults.h"

constexpr int kCount = 2048;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void writes(int* x) { x[threadIdx.x] = threadIdx.x + 1; }              // writes
__global__ void reads(int* y, const int* x) { y[threadIdx.x] = x[threadIdx.x]; }  // reads

FAULT(kernels_of_two_streams, "a kernel reads values that a kernel of another stream stores",
      "racecheck", "writes, reads") {
  const Streams streams;
  int *x = zeros(kCount), *y = zeros(kCount);
  writes<<<1, 32, 0, streams.one>>>(x);
  if (!planted) streams.order();
  reads<<<1, 32, 0, streams.two>>>(y, x);
}

FAULT(event_before_the_kernel, "the event is recorded before the kernel that it should follow",
      "racecheck", "writes, reads") {
  const Streams streams;
  int *x = zeros(kCount), *y = zeros(kCount);
  if (planted) streams.order();
  writes<<<1, 32, 0, streams.one>>>(x);
  if (!planted) streams.order();
  reads<<<1, 32, 0, streams.two>>>(y, x);
}

FAULT(copy_into_what_is_read, "the next batch overwrites the batch that a kernel still reads",
      "racecheck", "reads") {
  const Streams streams;
  int *x = zeros(kCount), *y = zeros(kCount), *host = nullptr;
  cudaMallocHost(&host, kBytes);
  reads<<<1, 32, 0, streams.one>>>(y, x);
  if (!planted) streams.order();
  cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, streams.two);
}

FAULT(copy_before_the_kernel_ends, "results are copied out by another stream, without an event",
      "racecheck", "writes") {
  const Streams streams;
  int *x = zeros(kCount), *host = nullptr;
  cudaMallocHost(&host, kBytes);
  writes<<<1, 32, 0, streams.one>>>(x);
  if (!planted) streams.order();
  cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, streams.two);
}

FAULT(fill_of_what_is_read, "a stream fills memory that a kernel of another stream reads",
      "racecheck", "reads") {
  const Streams streams;
  int *x = zeros(kCount), *y = zeros(kCount);
  reads<<<1, 32, 0, streams.one>>>(y, x);
  if (!planted) streams.order();
  cudaMemsetAsync(x, 1, kBytes, streams.two);
}

FAULT(fill_of_the_default_stream, "`cudaMemset()` before a kernel of a non-blocking stream",
      "racecheck", "reads") {
  const Streams streams;
  int *x = zeros(kCount), *y = zeros(kCount);
  cudaMemset(x, 1, kBytes);
  if (!planted) cudaStreamSynchronize(cudaStreamLegacy);
  reads<<<1, 32, 0, streams.one>>>(y, x);
}

FAULT(two_copies, "two streams copy to the same memory", "racecheck") {
  const Streams streams;
  int *x = zeros(kCount), *a = zeros(kCount), *b = zeros(kCount);
  cudaMemcpyAsync(x, a, kBytes, cudaMemcpyDeviceToDevice, streams.one);
  if (!planted) streams.order();
  cudaMemcpyAsync(x, b, kBytes, cudaMemcpyDeviceToDevice, streams.two);
}

// Runs a graph in which `second` depends on `first` or, if in_branches, is on another branch.
template <class First, class Second>
void run_graph(bool in_branches, const First& first, const Second& second) {
  const Streams streams;
  cudaEvent_t joins;
  cudaEventCreateWithFlags(&joins, cudaEventDisableTiming);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(streams.one, cudaStreamCaptureModeGlobal);
  if (!in_branches) first(streams.one);
  streams.order();
  if (in_branches) first(streams.one);
  second(streams.two);
  cudaEventRecord(joins, streams.two);
  cudaStreamWaitEvent(streams.one, joins, 0);
  cudaStreamEndCapture(streams.one, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, streams.one);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaEventDestroy(joins);
}

FAULT(branches_of_a_graph, "kernels of two branches of a graph", "racecheck", "writes, reads") {
  int *x = zeros(kCount), *y = zeros(kCount);
  run_graph(
      planted, [&](cudaStream_t stream) { writes<<<1, 32, 0, stream>>>(x); },
      [&](cudaStream_t stream) { reads<<<1, 32, 0, stream>>>(y, x); });
}

FAULT(copy_node_of_a_graph, "a kernel and a copy in two branches of a graph", "racecheck",
      "writes") {
  int *x = zeros(kCount), *y = zeros(kCount);
  run_graph(
      planted, [&](cudaStream_t stream) { writes<<<1, 32, 0, stream>>>(x); },
      [&](cudaStream_t stream) {
        cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, stream);
      });
}

FAULT(free_of_what_is_read, "`cudaFreeAsync()` in a stream other than the one that still reads",
      "racecheck", "reads") {
  const Streams streams;
  int *x = zeros(kCount), *y = zeros(kCount);
  reads<<<1, 32, 0, streams.one>>>(y, x);
  if (!planted) streams.order();
  cudaFreeAsync(x, streams.two);
}

FAULT(allocation_of_another_stream, "memory is used before its stream allocates it", "racecheck",
      "writes") {
  const Streams streams;
  int* x = nullptr;
  cudaMallocAsync(&x, kBytes, streams.one);
  if (!planted) streams.order();
  writes<<<1, 32, 0, streams.two>>>(x);
}

__global__ void produces(int* x) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[threadIdx.x] = threadIdx.x + 1;  // produced
}
__global__ void depends(int* y, int* x, int reads, int writes) {
  int value = 0;
  if (reads) value = x[threadIdx.x];  // read_before_the_wait
  if (writes) x[threadIdx.x] = -1;    // write_before_the_wait
  cudaGridDependencySynchronize();
  if (!reads) value = x[threadIdx.x];
  y[threadIdx.x] = value;
}
static void launch_dependent(bool reads, bool writes) {
  int *x = zeros(64), *y = zeros(64);
  const Streams streams;
  produces<<<1, 64, 0, streams.one>>>(x);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 64, config.stream = streams.one;
  config.attrs = &attribute, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, depends, y, x, static_cast<int>(reads), static_cast<int>(writes));
}
FAULT(read_before_the_wait,
      "a programmatic dependent launch reads before `cudaGridDependencySynchronize()`", "racecheck",
      "produced, read_before_the_wait") {
  launch_dependent(planted, false);
}
FAULT(write_before_the_wait,
      "a programmatic dependent launch writes before `cudaGridDependencySynchronize()`",
      "racecheck", "produced, write_before_the_wait") {
  launch_dependent(false, planted);
}
