// SPDX-License-Identifier: Apache-2.0
// Calls of both APIs in one program: handles are shared, and a failed call of the driver's API does
// not change the runtime's last error.
#include <cstring>

#include "driver_fixture.h"

namespace kernkit::simulator {
namespace {

using DriverAndRuntime = Driver;

TEST_F(DriverAndRuntime, StreamsEventsAndKernelsAreShared) {
  start();
  runtime().set_seed(3);  // the seed delays the work of streams
  const CUfunction scale = function(load(kScale), "scale");
  CUdeviceptr x = memory({1, 2, 3});
  unsigned n = 3;
  float factor = 2;
  void* arguments[] = {&x, &n, &factor};
  cudaStream_t of_runtime = nullptr;
  CUstream of_driver = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&of_runtime, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cuStreamCreate(&of_driver, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, of_runtime, arguments, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cudaEventRecord(event, of_runtime), cudaSuccess);
  ASSERT_EQ(cuStreamWaitEvent(of_driver, event, 0), CUDA_SUCCESS);
  factor = 10;
  ASSERT_EQ(cudaLaunchKernel(scale, dim3(1), dim3(32), arguments, 0, of_driver), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(of_driver), cudaSuccess);
  std::vector<float> read(3);
  ASSERT_EQ(cudaMemcpy(read.data(), reinterpret_cast<void*>(x), 12, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(read, (std::vector<float>{20, 40, 60}));
  EXPECT_EQ(cuStreamDestroy(of_runtime), CUDA_SUCCESS);
  EXPECT_EQ(cudaStreamDestroy(of_driver), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaFree(reinterpret_cast<void*>(x)), cudaSuccess);
  EXPECT_EQ(runtime().live(), "");
}

TEST_F(DriverAndRuntime, OnlyTheRuntimesErrorsBecomeItsLastError) {
  start();
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemFree(8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cuMemFree(8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST_F(DriverAndRuntime, UserObjectsLiveAsLongAsGraphs) {
  start();
  int destroyed = 0;
  CUuserObject object = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(cuUserObjectCreate(
                &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1,
                CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
            CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRetain(object, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
  EXPECT_EQ(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphReleaseUserObject(graph, object, 1), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(DriverAndRuntime, ACaptureTakesCallsOfBothApis) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  CUdeviceptr x = memory({1});
  unsigned n = 1;
  float factor = 3;
  void* arguments[] = {&x, &n, &factor};
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  cuuint64_t id = 0;
  EXPECT_EQ(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cuMemsetD32Async(x, 0x40000000, 1, stream), CUDA_SUCCESS);  // 2.0f
  ASSERT_EQ(cudaLaunchKernel(scale, dim3(1), dim3(1), arguments, 0, stream), cudaSuccess);
  CUgraph during = nullptr;
  const CUgraphNode* last = nullptr;
  size_t count = 0;
  const CUgraphEdgeData* edges = nullptr;
  ASSERT_EQ(cuStreamGetCaptureInfo(stream, &status, &id, &during, &last, &edges, &count),
            CUDA_SUCCESS);
  ASSERT_NE(edges, nullptr);
  EXPECT_EQ(edges[0].type, 0);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_EQ(cuGraphNodeGetType(*last, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
  CUdeviceptr forbidden = 0;
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  (void)forbidden;

  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(x, 0x40000000, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetCaptureInfo(stream, &status, &id, &during, &last, nullptr, &count),
            CUDA_SUCCESS);
  ASSERT_EQ(cudaLaunchKernel(scale, dim3(1), dim3(1), arguments, 0, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(graph, during);
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(values(x, 1), (std::vector<float>{6}));
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(DriverAndRuntime, GraphsAreBuiltNodeByNode) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  CUdeviceptr x = memory({0, 0}), y = memory({0, 0});
  unsigned n = 2;
  float factor = 5;
  void* arguments[] = {&x, &n, &factor};
  CUgraph graph = nullptr;
  CUgraphNode nodes[3] = {};
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  const CUDA_MEMSET_NODE_PARAMS fill{x, 0, 0x3f800000, 4, 2, 1};  // 1.0f
  ASSERT_EQ(cuGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &fill, nullptr), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS launch{};
  launch.func = scale;
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = 2;
  launch.blockDimY = launch.blockDimZ = 1;
  launch.kernelParams = arguments;
  ASSERT_EQ(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &launch), CUDA_SUCCESS);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = x;
  copy.dstDevice = y;
  copy.WidthInBytes = 8;
  copy.Height = copy.Depth = 1;
  ASSERT_EQ(cuGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &copy, nullptr), CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(values(y, 2), (std::vector<float>{5, 5}));
  factor = 7;
  ASSERT_EQ(cuGraphExecKernelNodeSetParams(exec, nodes[1], &launch), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(values(y, 2), (std::vector<float>{7, 7}));
}

TEST_F(DriverAndRuntime, GraphsListTheirDependencies) {
  start();
  CUgraph graph = nullptr;
  CUgraphNode a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&a, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&b, graph, &a, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&c, graph, &a, 1), CUDA_SUCCESS);
  const CUgraphNode both[] = {b, c};
  ASSERT_EQ(cuGraphAddEmptyNode(&d, graph, both, 2), CUDA_SUCCESS);
  size_t count = 0;
  ASSERT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 4u);
  std::vector<CUgraphNode> from(5), to(5);
  std::vector<CUgraphEdgeData> edges(5);
  edges[0].type = 1;
  count = 5;
  ASSERT_EQ(cuGraphGetEdges(graph, from.data(), to.data(), edges.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(from, (std::vector<CUgraphNode>{a, a, b, c, nullptr}));
  EXPECT_EQ(to, (std::vector<CUgraphNode>{b, c, d, d, nullptr}));
  EXPECT_EQ(edges[0].type, 0);
  count = 3;
  ASSERT_EQ(cuGraphNodeGetDependencies(d, from.data(), nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(from, (std::vector<CUgraphNode>{b, c, nullptr, c, nullptr}));
  count = 1;
  ASSERT_EQ(cuGraphNodeGetDependentNodes(a, to.data(), nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(to, (std::vector<CUgraphNode>{b, c, d, d, nullptr}));
  ASSERT_EQ(cuGraphNodeGetDependentNodes(d, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cuGraphGetEdges(graph, from.data(), nullptr, nullptr, &count),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphNodeGetDependencies(nullptr, nullptr, nullptr, &count),
            CUDA_ERROR_INVALID_VALUE);
}

// A graph launched on a second stream reads data that a first stream writes, and a third stream
// reads the graph's result.
TEST_F(DriverAndRuntime, NodesRecordAndAwaitEvents) {
  start();
  const CUfunction scale = function(load(kScale), "scale");
  CUdeviceptr x = memory({0});
  unsigned n = 1;
  float factor = 3;
  void* arguments[] = {&x, &n, &factor};
  CUstream streams[3] = {};
  for (CUstream& stream : streams) {
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  CUevent filled = nullptr, scaled = nullptr;
  ASSERT_EQ(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&scaled, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphNode nodes[3] = {};
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventWaitNode(&nodes[0], graph, nullptr, 0, filled), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS launch{};
  launch.func = scale;
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
  launch.kernelParams = arguments;
  ASSERT_EQ(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &launch), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventRecordNode(&nodes[2], graph, &nodes[1], 1, scaled), CUDA_SUCCESS);
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(nodes[0], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  EXPECT_EQ(cuGraphNodeGetType(nodes[2], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  CUevent event = nullptr;
  EXPECT_EQ(cuGraphEventWaitNodeGetEvent(nodes[0], &event), CUDA_SUCCESS);
  EXPECT_EQ(event, filled);
  EXPECT_EQ(cuGraphEventRecordNodeGetEvent(nodes[2], &event), CUDA_SUCCESS);
  EXPECT_EQ(event, scaled);
  EXPECT_EQ(cuGraphEventWaitNodeGetEvent(nodes[2], &event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEventWaitNode(&nodes[0], graph, nullptr, 0, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  for (unsigned i = 1; i < 40; ++i) {
    runtime().set_seed(i);
    const float value = static_cast<float>(i);
    unsigned bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    float read = 0;
    ASSERT_EQ(cuMemsetD32Async(x, bits, 1, streams[0]), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(filled, streams[0]), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphLaunch(exec, streams[1]), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(streams[2], scaled, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoHAsync(&read, x, sizeof(read), streams[2]), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(streams[2]), CUDA_SUCCESS);
    EXPECT_EQ(read, 3 * value);
    EXPECT_EQ(cuEventQuery(scaled), CUDA_SUCCESS);
  }
}

TEST_F(DriverAndRuntime, NodesOfMemoryHaveTheirParameters) {
  start();
  CUgraph graph = nullptr;
  CUgraphNode allocation = nullptr, release = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS all{};
  all.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  all.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  all.bytesize = 100;
  ASSERT_EQ(cuGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &all), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&release, graph, &allocation, 1, all.dptr), CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS read{};
  ASSERT_EQ(cuGraphMemAllocNodeGetParams(allocation, &read), CUDA_SUCCESS);
  EXPECT_EQ(read.poolProps.allocType, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(read.poolProps.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(read.bytesize, 100u);
  EXPECT_EQ(read.dptr, all.dptr);
  CUdeviceptr freed = 0;
  ASSERT_EQ(cuGraphMemFreeNodeGetParams(release, &freed), CUDA_SUCCESS);
  EXPECT_EQ(freed, all.dptr);
  EXPECT_EQ(cuGraphMemAllocNodeGetParams(release, &read), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphMemFreeNodeGetParams(allocation, &freed), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverAndRuntime, InjectedErrorsReachTheDriversApi) {
  start();
  CUdeviceptr address = 0;
  runtime().clear();
  runtime().fail("cuMemAlloc", 2, cudaErrorMemoryAllocation);
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_SUCCESS);
  EXPECT_EQ(runtime().count("cuMemAlloc"), 3u);
  EXPECT_EQ(runtime().count("cudaMalloc"), 0u);
  runtime().plant(CudaFault::kOnce, cudaErrorLaunchFailure);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
}

}  // namespace
}  // namespace kernkit::simulator
