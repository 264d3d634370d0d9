// SPDX-License-Identifier: Apache-2.0
// A graph that is built node by node: copies, fills, kernels, host functions, a child graph and
// memory that the graph allocates. The graph is launched, cloned and updated, and each wrong
// parameter returns its documented error.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "expect.h"

__global__ void scale(const int* x, int* y, int factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

__global__ void add_all(const int* x, int* sum, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(sum, x[i]);
}

constexpr int kSize = 1000;

struct Buffers {
  std::vector<int> x = std::vector<int>(kSize);
  int *device_x, *device_y, *sum, result = 0, calls = 0;
};

void count_call(void* data) { ++static_cast<Buffers*>(data)->calls; }

struct Kernel {
  Kernel(const int* from, int* to, int with) : x(from), y(to), factor(with) {
    parameters.func = reinterpret_cast<void*>(scale);
    parameters.gridDim = dim3((kSize + 127) / 128);
    parameters.blockDim = dim3(128);
    parameters.kernelParams = arguments;
  }
  const int* x;
  int *y, factor, n = kSize;
  Kernel(const Kernel&) = delete;
  void* arguments[4] = {&x, &y, &factor, &n};
  cudaKernelNodeParams parameters = {};
};

// Returns a graph that computes y = factor * x and the sum of all elements of y, and copies the sum
// to the host.
cudaGraph_t make(Buffers* all, int factor, cudaGraphNode_t* scaled) {
  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t copied, filled, added, returned, called;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(all->x.data(), kSize * sizeof(int), kSize, 1);
  copy.dstPtr = make_cudaPitchedPtr(all->device_x, kSize * sizeof(int), kSize, 1);
  copy.extent = make_cudaExtent(kSize * sizeof(int), 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  check(cudaGraphAddMemcpyNode(&copied, graph, nullptr, 0, &copy));
  cudaMemsetParams fill = {};
  fill.dst = all->sum;
  fill.value = 1000000;
  fill.elementSize = sizeof(int);
  fill.width = fill.height = 1;
  check(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  const Kernel kernel(all->device_x, all->device_y, factor);
  check(cudaGraphAddKernelNode(scaled, graph, &copied, 1, &kernel.parameters));
  int n = kSize;
  void* arguments[] = {&all->device_y, &all->sum, &n};
  cudaKernelNodeParams add = {};
  add.func = reinterpret_cast<void*>(add_all);
  add.gridDim = dim3(1);
  add.blockDim = dim3(64);
  add.kernelParams = arguments;
  const cudaGraphNode_t before[] = {filled, *scaled};
  check(cudaGraphAddKernelNode(&added, graph, before, 2, &add));
  check(cudaGraphAddMemcpyNode1D(&returned, graph, &added, 1, &all->result, all->sum, sizeof(int),
                                 cudaMemcpyDeviceToHost));
  const cudaHostNodeParams call = {count_call, all};
  check(cudaGraphAddHostNode(&called, graph, &returned, 1, &call));
  return graph;
}

int result_of(cudaGraphExec_t exec, Buffers* all, cudaStream_t stream) {
  all->result = -1;
  check(cudaGraphLaunch(exec, stream));
  check(cudaStreamSynchronize(stream));
  return all->result - 1000000;
}

void fill_rows(cudaStream_t stream) {
  unsigned short* memory;
  check(cudaMalloc(&memory, 6 * 16));
  check(cudaMemset(memory, 0, 6 * 16));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  check(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {memory, 16, 0xabcdef, 2, 5, 6};
  check(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  check(cudaGraphInstantiate(&exec, graph));
  check(cudaGraphLaunch(exec, stream));
  unsigned short pixels[6 * 8];
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(pixels, memory, sizeof(pixels), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 6 * 8; ++i) EXPECT(i % 8 < 5 ? 0xcdef : 0, static_cast<int>(pixels[i]));
  fill.elementSize = 3;
  EXPECT(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(graph));
  check(cudaFree(memory));
}

// Returns the number of bytes of device 0 that graphs use or reserve, as selected by `attribute`.
unsigned long long bytes_of(cudaGraphMemAttributeType attribute) {
  unsigned long long value = ~0ull;
  check(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
  return value;
}

void expect_result(const Buffers& all, cudaStream_t stream) {
  std::vector<int> y(kSize);
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(y.data(), all.device_y, kSize * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kSize; ++i) EXPECT(6 * all.x[i], y[i]);
  check(cudaMemset(all.device_y, 0, kSize * sizeof(int)));
}

// Tests a graph that computes y = 3 * (2 * x) in memory that the graph allocates.
void allocate(Buffers* all, cudaStream_t stream, bool frees) {
  constexpr unsigned long long kBytes = kSize * sizeof(int);
  cudaGraph_t graph, copy;
  cudaGraphExec_t exec;
  cudaGraphNode_t allocated, doubled, tripled, freed;
  check(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = kBytes;
  check(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory));
  int* node_memory = static_cast<int*>(memory.dptr);
  const Kernel twice(all->device_x, node_memory, 2), thrice(node_memory, all->device_y, 3);
  check(cudaGraphAddKernelNode(&doubled, graph, &allocated, 1, &twice.parameters));
  check(cudaGraphAddKernelNode(&tripled, graph, &doubled, 1, &thrice.parameters));
  if (frees) {
    check(cudaGraphAddMemFreeNode(&freed, graph, &tripled, 1, node_memory));
    EXPECT(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&freed, graph, &tripled, 1, node_memory));
    EXPECT(cudaErrorInvalidValue,
           cudaGraphAddMemFreeNode(&freed, graph, &tripled, 1, all->device_x));
  }
  EXPECT(cudaErrorNotSupported, cudaGraphClone(&copy, graph));
  cudaGraphNodeType type;
  check(cudaGraphNodeGetType(allocated, &type));
  EXPECT(cudaGraphNodeTypeMemAlloc, type);
  check(cudaGraphInstantiate(&exec, graph));
  check(cudaGraphLaunch(exec, stream));
  expect_result(*all, stream);
  // The memory that a launch allocated must be freed before the next launch: by the program, or
  // automatically with cudaGraphInstantiateFlagAutoFreeOnLaunch.
  EXPECT(frees ? cudaSuccess : cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
  if (!frees) {
    check(cudaFreeAsync(node_memory, stream));
    check(cudaGraphLaunch(exec, stream));
    check(cudaFreeAsync(node_memory, stream));
  }
  expect_result(*all, stream);
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int round = 0; round < 3; ++round) {
    check(cudaGraphLaunch(exec, stream));
    expect_result(*all, stream);
  }
  EXPECT(kBytes, bytes_of(cudaGraphMemAttrUsedMemCurrent));
  EXPECT(kBytes, bytes_of(cudaGraphMemAttrReservedMemCurrent));
  if (!frees) check(cudaFree(node_memory));
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(graph));
  EXPECT(0ull, bytes_of(cudaGraphMemAttrUsedMemCurrent));
  EXPECT(kBytes, bytes_of(cudaGraphMemAttrUsedMemHigh));
  EXPECT(kBytes, bytes_of(cudaGraphMemAttrReservedMemCurrent));
  check(cudaDeviceGraphMemTrim(0));
  EXPECT(0ull, bytes_of(cudaGraphMemAttrReservedMemCurrent));
  unsigned long long zero = 0;
  check(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  EXPECT(0ull, bytes_of(cudaGraphMemAttrUsedMemHigh));
  EXPECT(cudaErrorInvalidValue,
         cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
  EXPECT(cudaErrorInvalidDevice,
         cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &zero));
}

constexpr unsigned long long kGraphBytes = 1 << 20;

// Returns an executable graph that allocates and fills memory.
cudaGraphExec_t allocating(cudaStream_t stream, bool frees, char** memory) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(cudaMallocAsync(memory, kGraphBytes, stream));
  check(cudaMemsetAsync(*memory, 1, kGraphBytes, stream));
  if (frees) check(cudaFreeAsync(*memory, stream));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&exec, graph));
  check(cudaGraphDestroy(graph));
  return exec;
}

#define EXPECT_BYTES(used, reserved)                                              \
  do {                                                                            \
    EXPECT((used)*kGraphBytes, bytes_of(cudaGraphMemAttrUsedMemCurrent));         \
    EXPECT((reserved)*kGraphBytes, bytes_of(cudaGraphMemAttrReservedMemCurrent)); \
  } while (false)

// A graph's memory is reserved from the graph's first launch until the memory is trimmed or reused
// by another graph, or the graph is destroyed. Memory that the program has not freed remains
// allocated even then.
void footprint(cudaStream_t stream) {
  constexpr int kGraphs = 3;
  char* memory[kGraphs];
  cudaGraphExec_t execs[kGraphs];
  for (int i = 0; i < kGraphs; ++i) execs[i] = allocating(stream, true, &memory[i]);
  EXPECT_BYTES(0, 0);
  for (cudaGraphExec_t exec : execs) {  // the graphs run one after another in the stream
    for (int launches = 0; launches < 2; ++launches) check(cudaGraphLaunch(exec, stream));
    EXPECT_BYTES(1, 1);
  }
  check(cudaStreamSynchronize(stream));
  check(cudaDeviceGraphMemTrim(0));
  EXPECT_BYTES(0, 0);
  cudaStream_t other;
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  check(cudaGraphUpload(execs[0], other));
  EXPECT_BYTES(1, 1);
  check(cudaStreamSynchronize(other));
  check(cudaDeviceGraphMemTrim(0));
  EXPECT_BYTES(0, 0);
  check(cudaGraphLaunch(execs[0], other));
  check(cudaDeviceSynchronize());
  // The launch reuses the memory of execs[0], whose launch has ended.
  check(cudaGraphLaunch(execs[1], stream));
  EXPECT_BYTES(1, 1);
  check(cudaDeviceSynchronize());
  for (cudaGraphExec_t exec : execs) check(cudaGraphExecDestroy(exec));
  EXPECT_BYTES(0, 1);
  check(cudaDeviceGraphMemTrim(0));
  EXPECT_BYTES(0, 0);

  for (int i = 0; i < kGraphs; ++i) execs[i] = allocating(stream, false, &memory[i]);
  for (int i = 0; i < kGraphs; ++i) {
    check(cudaGraphLaunch(execs[i], stream));
    EXPECT_BYTES(i + 1, i + 1);
  }
  check(cudaStreamSynchronize(stream));
  check(cudaDeviceGraphMemTrim(0));
  EXPECT_BYTES(3, 3);
  check(cudaGraphExecDestroy(execs[2]));
  EXPECT_BYTES(3, 3);
  for (char* block : memory) check(cudaFree(block));
  EXPECT_BYTES(2, 3);  // no graph uses the third block any more
  check(cudaDeviceGraphMemTrim(0));
  EXPECT_BYTES(0, 0);
  unsigned long long zero = 0;
  EXPECT(3 * kGraphBytes, bytes_of(cudaGraphMemAttrUsedMemHigh));
  EXPECT(3 * kGraphBytes, bytes_of(cudaGraphMemAttrReservedMemHigh));
  check(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  check(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &zero));
  check(cudaGraphLaunch(execs[0], stream));  // the memory is reserved again
  EXPECT_BYTES(1, 1);
  EXPECT(kGraphBytes, bytes_of(cudaGraphMemAttrReservedMemHigh));
  check(cudaFreeAsync(memory[0], stream));
  check(cudaStreamSynchronize(stream));
  EXPECT_BYTES(1, 1);
  check(cudaGraphExecDestroy(execs[0]));
  check(cudaGraphExecDestroy(execs[1]));

  // The memory is reserved by the launch, not by instantiation.
  size_t free = 0, total = 0;
  char* filler = nullptr;
  execs[0] = allocating(stream, true, &memory[0]);
  check(cudaDeviceGraphMemTrim(0));
  check(cudaMemGetInfo(&free, &total));
  check(cudaMalloc(&filler, free - kGraphBytes / 2));
  EXPECT(cudaErrorMemoryAllocation, cudaGraphLaunch(execs[0], stream));
  EXPECT_BYTES(0, 0);
  check(cudaFree(filler));
  check(cudaGraphLaunch(execs[0], stream));
  check(cudaStreamSynchronize(stream));
  check(cudaGraphExecDestroy(execs[0]));
  check(cudaDeviceGraphMemTrim(0));
  check(cudaStreamDestroy(other));
}

// A user object lives as long as graphs, their copies or their launches refer to the object.
void user_objects(cudaStream_t stream) {
  int destroyed = 0;
  const auto count_destroyed = [](void* count) { ++*static_cast<int*>(count); };
  cudaUserObject_t object;
  EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(&object, &destroyed, count_destroyed, 1, 0));
  EXPECT(cudaErrorInvalidValue, cudaUserObjectCreate(&object, &destroyed, count_destroyed, 0,
                                                     cudaUserObjectNoDestructorSync));
  check(cudaUserObjectCreate(&object, &destroyed, count_destroyed, 2,
                             cudaUserObjectNoDestructorSync));
  cudaGraph_t graph, clone, parent;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  check(cudaGraphCreate(&graph, 0));
  check(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  check(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  EXPECT(cudaErrorInvalidValue,
         cudaGraphRetainUserObject(graph, object, 2, cudaGraphUserObjectMove));
  EXPECT(cudaErrorInvalidValue, cudaGraphReleaseUserObject(graph, object, 2));
  check(cudaUserObjectRelease(object, 1));
  EXPECT(cudaErrorInvalidValue, cudaUserObjectRelease(object, 1));
  check(cudaGraphClone(&clone, graph));
  check(cudaGraphCreate(&parent, 0));
  check(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, clone));
  check(cudaGraphDestroy(graph));
  check(cudaGraphDestroy(clone));
  check(cudaGraphInstantiate(&exec, parent));
  check(cudaGraphDestroy(parent));
  EXPECT(0, destroyed);
  check(cudaGraphLaunch(exec, stream));
  check(cudaGraphExecDestroy(exec));
  check(cudaStreamSynchronize(stream));
  EXPECT(1, destroyed);
  EXPECT(cudaErrorInvalidValue, cudaUserObjectRetain(object, 1));
  check(cudaUserObjectCreate(&object, &destroyed, count_destroyed, 1,
                             cudaUserObjectNoDestructorSync));
  check(cudaUserObjectRetain(object, 1));
  check(cudaUserObjectRelease(object, 2));
  EXPECT(2, destroyed);
}

// Prints a graph to a file and checks that the file contains a Graphviz graph with edges.
void expect_printed(cudaGraph_t graph) {
  char path[] = "/tmp/graph_nodes_XXXXXX";
  const int descriptor = mkstemp(path);
  EXPECT(true, descriptor >= 0);
  close(descriptor);
  check(cudaGraphDebugDotPrint(graph, path, 0));
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT(true, text.rfind("digraph", 0) == 0 && text.find("->") != std::string::npos);
  std::remove(path);
}

// A graph waits for an event and reads data that another stream wrote before the event. The graph
// also records an event, for which the host waits.
void events(Buffers* all, cudaStream_t stream) {
  constexpr size_t kBytes = kSize * sizeof(int);
  cudaEvent_t ready, done, read;
  cudaStream_t producer;
  int* source;
  check(cudaEventCreate(&ready));
  check(cudaEventCreate(&done));
  check(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
  check(cudaMalloc(&source, kBytes));
  check(cudaMemcpy(source, all->x.data(), kBytes, cudaMemcpyHostToDevice));
  cudaGraph_t graphs[2];
  cudaGraphNode_t nodes[3], from[2], to[2];
  check(cudaGraphCreate(&graphs[0], 0));
  check(cudaGraphAddEventWaitNode(&nodes[0], graphs[0], nullptr, 0, ready));
  const Kernel kernel(all->device_x, all->device_y, 6);
  check(cudaGraphAddKernelNode(&nodes[1], graphs[0], &nodes[0], 1, &kernel.parameters));
  check(cudaGraphAddEventRecordNode(&nodes[2], graphs[0], &nodes[1], 1, done));
  check(cudaGraphEventWaitNodeGetEvent(nodes[0], &read));
  EXPECT(true, read == ready);
  check(cudaGraphEventRecordNodeGetEvent(nodes[2], &read));
  EXPECT(true, read == done);
  size_t count = 2;
  check(cudaGraphGetEdges(graphs[0], from, to, nullptr, &count));
  EXPECT(true, count == 2 && from[1] == nodes[1] && to[1] == nodes[2]);
  check(cudaGraphNodeGetDependencies(nodes[1], from, nullptr, &count));
  EXPECT(true, count == 1 && from[0] == nodes[0] && from[1] == nullptr);
  check(cudaGraphNodeGetDependentNodes(nodes[1], to, nullptr, &count));
  EXPECT(true, count == 1 && to[0] == nodes[2]);
  expect_printed(graphs[0]);

  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(cudaStreamWaitEvent(stream, ready, cudaEventWaitExternal));
  scale<<<(kSize + 127) / 128, 128, 0, stream>>>(all->device_x, all->device_y, 6, kSize);
  check(cudaEventRecordWithFlags(done, stream, cudaEventRecordExternal));
  check(cudaStreamEndCapture(stream, &graphs[1]));
  for (cudaGraph_t graph : graphs) {
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph));
    for (int round = 0; round < 3; ++round) {
      check(cudaMemsetAsync(all->device_x, 0, kBytes, producer));
      check(cudaMemcpyAsync(all->device_x, source, kBytes, cudaMemcpyDeviceToDevice, producer));
      check(cudaEventRecord(ready, producer));
      check(cudaGraphLaunch(exec, stream));
      check(cudaEventSynchronize(done));
      check(cudaEventQuery(ready));
      expect_result(*all, stream);
    }
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
  }
  check(cudaEventDestroy(ready));
  check(cudaEventDestroy(done));
  check(cudaStreamDestroy(producer));
  check(cudaFree(source));
}

int main() {
  Buffers all;
  std::iota(all.x.begin(), all.x.end(), -300);
  const int sum = std::accumulate(all.x.begin(), all.x.end(), 0);
  check(cudaMalloc(&all.device_x, kSize * sizeof(int)));
  check(cudaMalloc(&all.device_y, kSize * sizeof(int)));
  check(cudaMalloc(&all.sum, sizeof(int)));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));

  cudaGraphNode_t scaled, of_clone;
  cudaGraph_t graph = make(&all, 2, &scaled), clone;
  cudaGraphExec_t exec, exec_of_clone;
  size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(size_t{6}, count);
  check(cudaGraphInstantiate(&exec, graph));
  check(cudaGraphClone(&clone, graph));
  check(cudaGraphInstantiate(&exec_of_clone, clone));
  EXPECT(2 * sum, result_of(exec, &all, stream));
  check(cudaGraphDestroy(clone));
  EXPECT(2 * sum, result_of(exec_of_clone, &all, stream));
  all.x[0] += 5;  // read when the graph runs
  EXPECT(2 * (sum + 5), result_of(exec, &all, stream));
  all.x[0] -= 5;

  // Changes the arguments of a kernel in `exec` only; `exec_of_clone` is unchanged.
  Kernel changed(all.device_x, all.device_y, 7);
  check(cudaGraphExecKernelNodeSetParams(exec, scaled, &changed.parameters));
  EXPECT(7 * sum, result_of(exec, &all, stream));
  EXPECT(2 * sum, result_of(exec_of_clone, &all, stream));
  changed.parameters.blockDim = dim3(2000);
  EXPECT(cudaErrorInvalidConfiguration,
         cudaGraphExecKernelNodeSetParams(exec, scaled, &changed.parameters));
  EXPECT(cudaErrorInvalidValue,
         cudaGraphExecKernelNodeSetParams(exec_of_clone, scaled, &changed.parameters));
  EXPECT(7 * sum, result_of(exec, &all, stream));

  // Updates all parameters from another graph with the same nodes and dependencies. A graph with
  // different nodes or dependencies is rejected without an effect.
  cudaGraph_t other = make(&all, 11, &of_clone);
  cudaGraphExecUpdateResultInfo info;
  check(cudaGraphExecUpdate(exec, other, &info));
  EXPECT(cudaGraphExecUpdateSuccess, info.result);
  EXPECT(11 * sum, result_of(exec, &all, stream));
  const Kernel again(all.device_x, all.device_y, 4);
  check(cudaGraphExecKernelNodeSetParams(exec, scaled, &again.parameters));
  cudaGraphNode_t extra;
  check(cudaGraphAddEmptyNode(&extra, other, &of_clone, 1));
  EXPECT(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
  EXPECT(cudaGraphExecUpdateErrorTopologyChanged, info.result);
  EXPECT(4 * sum, result_of(exec, &all, stream));

  // Adds a graph as a node to another graph.
  cudaGraph_t outer;
  cudaGraphExec_t exec_of_outer;
  cudaGraphNode_t first, second, roots[2];
  check(cudaGraphCreate(&outer, 0));
  check(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, graph));
  const cudaHostNodeParams call = {count_call, &all};
  check(cudaGraphAddHostNode(&second, outer, &first, 1, &call));
  check(cudaGraphInstantiate(&exec_of_outer, outer));
  all.calls = 0;
  EXPECT(2 * sum, result_of(exec_of_outer, &all, stream));
  EXPECT(2, all.calls);
  count = 2;
  check(cudaGraphGetRootNodes(outer, roots, &count));
  EXPECT(size_t{1}, count);
  EXPECT(true, roots[0] == first && roots[1] == nullptr);
  cudaGraphNodeType type;
  check(cudaGraphNodeGetType(second, &type));
  EXPECT(cudaGraphNodeTypeHost, type);

  fill_rows(stream);
  for (const bool frees : {true, false}) allocate(&all, stream, frees);
  footprint(stream);
  events(&all, stream);

  const cudaGraphNode_t twice[] = {first, first};
  EXPECT(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&extra, outer, twice, 2));
  EXPECT(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&extra, outer, &scaled, 1));
  EXPECT(cudaErrorInvalidValue, cudaGraphCreate(&clone, 1));
  EXPECT(cudaErrorInvalidValue, cudaGraphAddKernelNode(&extra, outer, nullptr, 0, nullptr));
  check(cudaGraphGetNodes(outer, nullptr, &count));
  EXPECT(size_t{2}, count);
  for (cudaGraphExec_t each : {exec, exec_of_clone, exec_of_outer}) {
    check(cudaGraphExecDestroy(each));
  }
  for (cudaGraph_t any_graph : {graph, other, outer}) check(cudaGraphDestroy(any_graph));
  for (int* memory : {all.device_x, all.device_y, all.sum}) check(cudaFree(memory));
  user_objects(stream);
  check(cudaStreamDestroy(stream));
  return verdict("graph_nodes", passed);
}
