// SPDX-License-Identifier: Apache-2.0
// Memory that streams and graphs allocate and free, accessed by kernels. Source of the rules: CUDA
// C++ Programming Guide, "Graph Memory Nodes".
#include "ptx_fixture.h"
#include "simulator_target.h"

extern "C" {  // as in kernkit_cudart
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value);
cudaError_t cudaDeviceGraphMemTrim(int device);
}

namespace kernkit::simulator {
namespace {

constexpr size_t kBytes = 32 * sizeof(int);

class PtxGraphMemory : public Ptx {
 protected:
  void start(unsigned seed) {
    execution_target::end();
    (void)execution_target::begin();
    execution_target::runtime().set_seed(seed);
    cudaStreamCreate(&stream_);
    y_ = memory<int>(32);
  }
  /// Launches the kernel `put`, which computes x[i] = i, or `get`, which computes y[i] = x[i] + 1.
  cudaError_t launch(const char* name, int* x, int* y = nullptr) {
    return module_.launch_on(stream_, name, 1, 32, 0, x, y);
  }
  /// Returns an executable graph that allocates x, runs put and get, and frees x if `frees` is
  /// true.
  cudaGraphExec_t instance(bool frees, int** x, cudaGraph_t* graph = nullptr) {
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(x), kBytes, stream_), cudaSuccess);
    EXPECT_EQ(launch("put", *x), cudaSuccess);
    EXPECT_EQ(launch("get", *x, y_), cudaSuccess);
    EXPECT_EQ(frees ? cudaFreeAsync(*x, stream_) : cudaSuccess, cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(stream_, &captured), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, captured, 0), cudaSuccess);
    if (graph != nullptr) {
      *graph = captured;
    } else {
      cudaGraphDestroy(captured);
    }
    return exec;
  }
  cudaError_t run(cudaGraphExec_t exec) {
    std::memset(y_, 0, kBytes);
    const cudaError_t error = cudaGraphLaunch(exec, stream_);
    return error != cudaSuccess ? error : cudaStreamSynchronize(stream_);
  }

  PtxModule module_{
      ".visible .entry put(.param .u64 x, .param .u64 y)\n{\n.reg .b64 %x, %y<2>;\n"
      ".reg .b32 %i;\nld.param.u64 %x, [x];\nmov.u32 %i, %tid.x;\nmul.wide.u32 %y1, %i, 4;\n"
      "add.u64 %x, %x, %y1;\nst.global.u32 [%x], %i;\nret;\n}\n"
      ".visible .entry get(.param .u64 x, .param .u64 y)\n{\n.reg .b64 %x, %y, %y<2>;\n"
      ".reg .b32 %i, %r;\nld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nmov.u32 %i, %tid.x;\n"
      "mul.wide.u32 %y1, %i, 4;\nadd.u64 %x, %x, %y1;\nadd.u64 %y, %y, %y1;\n"
      "ld.global.u32 %r, [%x];\nadd.u32 %r, %r, 1;\nst.global.u32 [%y], %r;\nret;\n}\n"};
  cudaStream_t stream_ = nullptr;
  int* y_ = nullptr;
};

TEST_F(PtxGraphMemory, EachLaunchAllocatesAndFrees) {
  for (const unsigned seed : {0u, 1u, 2u, 3u}) {
    start(seed);
    int* x = nullptr;
    cudaGraphExec_t exec = instance(true, &x);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(run(exec), cudaSuccess) << fault();
      EXPECT_EQ(y_[31], 32);
    }
    EXPECT_EQ(fault(), "none");
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
}

TEST_F(PtxGraphMemory, AKernelBeforeAFreeInTheStreamReadsTheMemory) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    start(seed);
    int* x = nullptr;
    ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&x), kBytes, stream_), cudaSuccess);
    EXPECT_EQ(launch("put", x), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(x, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess) << "seed " << seed;
    EXPECT_EQ(fault(), "none");
  }
}

TEST_F(PtxGraphMemory, IsInvalidAfterTheNodeThatFreesTheMemory) {
  for (const bool copies : {false, true}) {
    start(0);
    int* x = nullptr;
    cudaGraphExec_t exec = instance(true, &x);
    ASSERT_EQ(run(exec), cudaSuccess);
    if (copies) {
      EXPECT_EQ(cudaMemcpy(y_, x, kBytes, cudaMemcpyDefault), cudaErrorInvalidValue);
      EXPECT_EQ(fault(),
                "cudaMemcpy(): src: 128 bytes at byte 0 of an allocation of 128 bytes that its "
                "graph has not allocated or has freed");
      EXPECT_EQ(cudaFree(x), cudaErrorInvalidValue);
      EXPECT_EQ(run(exec), cudaSuccess);
    } else {
      EXPECT_EQ(launch("put", x), cudaSuccess);
      EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorIllegalAddress);
      EXPECT_EQ(fault(),
                "put: block [0, 0, 0], thread [0, 0, 0]: Invalid __global__ write of size 4 bytes, "
                "at byte 0 of an "
                "allocation of 128 bytes that its graph has not allocated or has freed");
    }
  }
}

TEST_F(PtxGraphMemory, StaysValidWithoutANodeThatFreesTheMemory) {
  for (const unsigned seed : {0u, 3u}) {
    for (const bool in_order : {false, true}) {
      start(seed);
      int* x = nullptr;
      cudaGraphExec_t exec = instance(false, &x);
      EXPECT_EQ(cudaFree(x), cudaErrorInvalidValue) << "before a launch";
      ASSERT_EQ(run(exec), cudaSuccess);
      EXPECT_EQ(launch("get", x, y_), cudaSuccess);
      int copied[32] = {};
      EXPECT_EQ(cudaMemcpyAsync(copied, x, kBytes, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
      EXPECT_EQ(copied[31], 31);
      EXPECT_EQ(run(exec), cudaErrorInvalidValue)
          << "the memory of the last launch is still allocated";
      EXPECT_EQ(in_order ? cudaFreeAsync(x, stream_) : cudaFree(x), cudaSuccess);
      EXPECT_EQ(cudaFree(x), cudaErrorInvalidValue) << "twice";
      ASSERT_EQ(run(exec), cudaSuccess);
      EXPECT_EQ(y_[31], 32);
      EXPECT_EQ(execution_target::runtime().faults().size(), 3u);
      // The memory remains allocated after the executable graph is destroyed.
      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
      EXPECT_EQ(launch("get", x, y_), cudaSuccess);
      EXPECT_EQ(cudaFree(x), cudaSuccess);
      EXPECT_EQ(execution_target::runtime().used_memory(0), 0u);
    }
  }
}

TEST_F(PtxGraphMemory, AnotherGraphMayFreeTheMemory) {
  start(3);
  int* x = nullptr;
  cudaGraphExec_t first = instance(false, &x), second = nullptr;
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(launch("get", x, y_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(x, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(first), cudaSuccess);
    EXPECT_EQ(run(second), cudaSuccess);
    EXPECT_EQ(y_[31], 32);
  }
  EXPECT_EQ(fault(), "none");
  EXPECT_EQ(run(second), cudaErrorInvalidValue) << "the memory was already freed";
}

TEST_F(PtxGraphMemory, HasOneInstanceAtATime) {
  start(0);
  int* x = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t first = instance(true, &x, &graph), second = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphExecDestroy(first), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
  EXPECT_EQ(run(second), cudaSuccess);
}

// Returns the values of cudaGraphMemAttrUsedMemCurrent and cudaGraphMemAttrReservedMemCurrent.
std::pair<uint64_t, uint64_t> footprint() {
  uint64_t used = 0, reserved = 0;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, 0, &used), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, 2, &reserved), cudaSuccess);
  return {used, reserved};
}

// Launches that may run at the same time use separate memory until the launches have ended.
// ../programs/graph_nodes.cu tests the other cases.
TEST_F(PtxGraphMemory, CountsWhatLaunchesUseThatHaveNotEnded) {
  uint64_t most = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {  // with lagging streams
    start(seed);
    int* x = nullptr;
    cudaGraphExec_t execs[] = {instance(true, &x), instance(true, &x), instance(true, &x)};
    cudaStream_t other = nullptr;
    cudaStreamCreate(&other);
    EXPECT_EQ(footprint().first, 0u);
    EXPECT_EQ(cudaGraphLaunch(execs[0], stream_), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(execs[1], other), cudaSuccess);
    most = std::max(most, footprint().first);
    EXPECT_EQ(cudaGraphLaunch(execs[2], stream_), cudaSuccess);
    EXPECT_LE(footprint().first, 2 * kBytes) << "expected the second launch in stream_ to reuse "
                                                "the memory of the first launch in stream_";
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << fault();
    EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
    EXPECT_EQ(footprint().second, 0u);
    for (cudaGraphExec_t exec : execs) EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
  EXPECT_EQ(most, 2 * kBytes);
}

}  // namespace
}  // namespace kernkit::simulator
