// SPDX-License-Identifier: Apache-2.0
// Stream capture: which streams take part, the effects of a graph, and calls that end a capture.
// Source of the rules: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture". The
// error codes are NVIDIA's, see api_test.cc.
#include "streams_fixture.h"

namespace kernels {
inline __global__ void add_one(int* x) { ++*x; }
}  // namespace kernels

namespace kernkit::simulator {
namespace {

constexpr auto kGlobal = cudaStreamCaptureModeGlobal;
constexpr auto kThreadLocal = cudaStreamCaptureModeThreadLocal;
constexpr auto kRelaxed = cudaStreamCaptureModeRelaxed;

class CudaCapture : public CudaStreams {
 protected:
  static cudaStream_t begin(cudaStreamCaptureMode mode = kGlobal,
                            unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t created = stream(flags);
    EXPECT_EQ(cudaStreamBeginCapture(created, mode), cudaSuccess);
    return created;
  }
  static cudaError_t end(cudaStream_t stream, cudaGraph_t* graph = nullptr) {
    cudaGraph_t captured = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream, &captured);
    EXPECT_EQ(captured != nullptr, error == cudaSuccess);
    if (graph != nullptr) {
      *graph = captured;
    } else if (captured != nullptr) {
      EXPECT_EQ(cudaGraphDestroy(captured), cudaSuccess);
    }
    return error;
  }
  static cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus capture_status = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &capture_status), cudaSuccess);
    return capture_status;
  }
  /// Makes `stream` wait for the work that was submitted to `other`.
  static cudaError_t wait(cudaStream_t stream, cudaStream_t other) {
    cudaEvent_t recorded = event();
    EXPECT_EQ(cudaEventRecord(recorded, other), cudaSuccess);
    const cudaError_t error = cudaStreamWaitEvent(stream, recorded);
    EXPECT_EQ(cudaEventDestroy(recorded), cudaSuccess);
    return error;
  }
  static size_t size(cudaGraph_t graph) {
    size_t nodes = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    return nodes;
  }
  static cudaGraphExec_t instance(cudaGraph_t graph) {
    cudaGraphExec_t created = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&created, graph), cudaSuccess);
    return created;
  }
};

TEST_F(CudaCapture, AStreamThatWaitsForACapturedStreamJoinsTheCapture) {
  const auto fork_and_join = [&](bool joined_late) {
    cudaStream_t a = begin(), b = stream();
    append(a, '1');
    EXPECT_EQ(wait(b, a), cudaSuccess);
    EXPECT_EQ(status(b), cudaStreamCaptureStatusActive);
    append(a, 'a');
    if (joined_late) append(a, 'A');
    append(b, 'b');
    EXPECT_EQ(wait(a, b), cudaSuccess);
    append(a, '2');
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(end(a, &graph), cudaSuccess);
    EXPECT_EQ(status(a), cudaStreamCaptureStatusNone);
    EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);
    EXPECT_EQ(size(graph), joined_late ? 5u : 4u);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(log_, "") << "captured work must not run";
    EXPECT_EQ(cudaGraphLaunch(instance(graph), b), cudaSuccess);
    append(b, '3');
    EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
  };
  EXPECT_EQ(logs([&] { fork_and_join(false); }), (Logs{"1ab23", "1ba23"}));
  EXPECT_EQ(logs([&] { fork_and_join(true); }), (Logs{"1aAb23", "1abA23", "1baA23"}));
  start(0);
  fork_and_join(false);
  EXPECT_EQ(log_, "1ab23");
}

TEST_F(CudaCapture, AForkOfAForkMayJoinInItsPlace) {
  cudaStream_t a = begin(), b = stream(), c = stream();
  EXPECT_EQ(wait(b, a), cudaSuccess) << "stream a has no work yet";
  append(b, 'b');
  EXPECT_EQ(wait(c, b), cudaSuccess);
  append(c, 'c');
  EXPECT_EQ(cudaStreamDestroy(b), cudaSuccess);
  EXPECT_EQ(wait(a, c), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(end(a, &graph), cudaSuccess);
  EXPECT_EQ(size(graph), 2u);
  // cudaGraphGetNodes() stores the handles of all nodes. cudaGraphGetRootNodes() stores the handles
  // of the nodes without dependencies.
  std::vector<cudaGraphNode_t> all(3, reinterpret_cast<cudaGraphNode_t>(1)), roots = all;
  size_t nodes = all.size();
  EXPECT_EQ(cudaGraphGetNodes(graph, all.data(), &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 2u);
  EXPECT_TRUE(all[0] != nullptr && all[1] != nullptr && all[0] != all[1] && all[2] == nullptr);
  EXPECT_EQ(cudaGraphGetRootNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  EXPECT_EQ(cudaGraphGetRootNodes(graph, roots.data(), &nodes), cudaSuccess);
  EXPECT_EQ(roots[0], all[0]);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaErrorInvalidValue) << "gone";
}

TEST_F(CudaCapture, ForksMustBeJoined) {
  for (const std::string missing : {"all", "the last"}) {
    cudaStream_t a = begin(), b = stream();
    append(a, 'a');
    EXPECT_EQ(wait(b, a), cudaSuccess);
    append(b, 'b');
    if (missing == "the last") {
      EXPECT_EQ(wait(a, b), cudaSuccess);
      append(b, 'c');
    }
    EXPECT_EQ(end(a), cudaErrorStreamCaptureUnjoined) << missing;
    EXPECT_EQ(status(a), cudaStreamCaptureStatusNone);
    EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);
  }
  cudaStream_t a = begin(), idle = stream();
  append(a, 'a');
  EXPECT_EQ(wait(idle, a), cudaSuccess);
  EXPECT_EQ(end(a), cudaSuccess) << "a stream without work need not join";
}

TEST_F(CudaCapture, EndsOnTheStreamThatBeganTheCapture) {
  cudaStream_t a = begin(), b = stream();
  EXPECT_EQ(cudaStreamBeginCapture(a, kGlobal), cudaErrorIllegalState);
  EXPECT_EQ(wait(b, a), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(b, kGlobal), cudaErrorIllegalState);
  EXPECT_EQ(end(b), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(status(a), cudaStreamCaptureStatusInvalidated);
  EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(a), cudaErrorIllegalState) << "the capture has ended";
  EXPECT_EQ(end(nullptr), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamEndCapture(a, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamBeginCapture(a, static_cast<cudaStreamCaptureMode>(3)),
            cudaErrorInvalidValue);

  for (const auto mode : {kGlobal, kThreadLocal, kRelaxed}) {
    cudaStream_t captured = begin(mode);
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = end(captured); }).join();
    EXPECT_EQ(error, mode == kRelaxed ? cudaSuccess : cudaErrorStreamCaptureWrongThread);
    EXPECT_EQ(end(captured),
              mode == kRelaxed ? cudaErrorIllegalState : cudaErrorStreamCaptureInvalidated);
  }
}

TEST_F(CudaCapture, DependsOnNoWorkOutsideOfTheCapture) {
  cudaStream_t a = begin(kThreadLocal), outside = stream(), b = begin(kThreadLocal);
  EXPECT_EQ(wait(a, outside), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);

  a = begin(kThreadLocal);
  EXPECT_EQ(wait(a, b), cudaErrorStreamCaptureMerge);
  EXPECT_EQ(cudaStreamWaitEvent(a, event()), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(b), cudaErrorStreamCaptureInvalidated);

  a = begin();
  EXPECT_EQ(cudaStreamWaitEvent(a, event(), cudaEventWaitExternal), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(a, event(), 2), cudaErrorInvalidValue);
  EXPECT_EQ(end(a), cudaSuccess);
}

// An event that was recorded in a capture belongs to the graph: cudaEventQuery() and
// cudaEventSynchronize() return cudaErrorCapturedEvent, and invalidate an open capture.
TEST_F(CudaCapture, EventsOfACaptureAreOfNoUseOutside) {
  cudaEvent_t recorded = event(), plain = event();
  cudaStream_t b = stream();
  EXPECT_EQ(cudaEventRecord(plain, b), cudaSuccess);
  const auto query = [&](const auto& question) {
    cudaStream_t a = begin();
    EXPECT_EQ(cudaEventRecord(recorded, a), cudaSuccess);
    EXPECT_EQ(question(), cudaErrorCapturedEvent);
    EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(question(), cudaErrorCapturedEvent) << "an event in a capture never occurs";
  };
  query([&] { return cudaEventQuery(recorded); });
  query([&] { return cudaEventSynchronize(recorded); });

  cudaStream_t a = begin();
  EXPECT_EQ(cudaEventRecord(recorded, a), cudaSuccess);
  float milliseconds = 0;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, plain, recorded), cudaErrorCapturedEvent);
  EXPECT_EQ(end(a), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(b, recorded), cudaErrorInvalidValue) << "the capture has ended";
  EXPECT_EQ(cudaEventRecord(recorded, a), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(recorded), cudaSuccess)
      << "the event was recorded again outside of a capture";

  a = begin();
  EXPECT_EQ(cudaEventRecord(recorded, a), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(a), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaEventRecord(plain, a), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamWaitEvent(b, recorded), cudaErrorInvalidValue)
      << "the capture is invalidated";
  EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);
  EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);
}

TEST_F(CudaCapture, TheLegacyStreamCannotBeUsedBesideABlockingStream) {
  for (const auto mode : {kGlobal, kThreadLocal, kRelaxed}) {
    for (const std::string call : {"launch", "memcpy", "memset", "synchronise", "wait"}) {
      cudaStream_t a = begin(mode, cudaStreamDefault);
      cudaEvent_t recorded = event();
      cudaEventRecord(recorded, a);
      cudaStreamCaptureStatus unspecified;
      EXPECT_EQ(cudaStreamIsCapturing(nullptr, &unspecified), cudaErrorStreamCaptureImplicit);
      EXPECT_EQ(status(a), cudaStreamCaptureStatusActive) << "a query of the status is permitted";
      int x = 0, y = 0;
      cudaLaunchConfig_t config{};
      config.gridDim = config.blockDim = 1;
      cudaError_t error = cudaSuccess;
      if (call == "launch") error = cudaLaunchKernelEx(&config, kernels::add_one, &x);
      if (call == "memcpy") error = cudaMemcpy(&y, &x, sizeof(int), cudaMemcpyHostToHost);
      if (call == "memset") error = cudaMemset(&x, 0, sizeof(int));
      if (call == "synchronise") error = cudaStreamSynchronize(nullptr);
      if (call == "wait") error = cudaStreamWaitEvent(nullptr, recorded);
      EXPECT_EQ(error, cudaErrorStreamCaptureImplicit) << call;
      EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated) << call;
    }
  }
  cudaStream_t a = begin();
  append(nullptr, '0');
  EXPECT_EQ(end(a), cudaSuccess) << "a non-blocking stream does not affect the capture";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(CudaCapture, WhichThreadsMayMakeUnsafeCalls) {
  void* memory = nullptr;
  const auto allocate = [&] { return cudaMalloc(&memory, 1); };
  const auto elsewhere = [&](cudaStreamCaptureMode of_thread) {
    cudaError_t error = cudaSuccess;
    std::thread([&] {
      EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&of_thread), cudaSuccess);
      EXPECT_EQ(of_thread, kGlobal) << "the previous mode";
      error = allocate();
    }).join();
    return error;
  };
  for (const auto mode : {kGlobal, kThreadLocal, kRelaxed}) {
    for (const auto of_thread : {kGlobal, kThreadLocal, kRelaxed}) {
      cudaStream_t a = begin(mode);
      const bool forbidden = mode == kGlobal && of_thread == kGlobal;
      EXPECT_EQ(elsewhere(of_thread), forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
      EXPECT_EQ(end(a), forbidden ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
    }
  }
  auto relaxed = kRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&relaxed), cudaSuccess);
  cudaStream_t a = begin(), b = stream();
  EXPECT_EQ(allocate(), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported) << "forbidden in any mode";
  EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);
  auto invalid = static_cast<cudaStreamCaptureMode>(7);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&invalid), cudaErrorInvalidValue);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&relaxed), cudaSuccess);
  EXPECT_EQ(relaxed, kRelaxed);
  a = begin(kThreadLocal);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaErrorStreamCaptureUnsupported) << "another stream";
  EXPECT_EQ(end(a), cudaErrorStreamCaptureInvalidated);
}

TEST_F(CudaCapture, MemoryOfAGraphIsAllocatedInEachRun) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    int *allocated = nullptr, *counter = nullptr;
    ASSERT_EQ(cudaMalloc(&counter, sizeof(int)), cudaSuccess);
    cudaMemset(counter, 0, sizeof(int));
    cudaStream_t a = begin();
    EXPECT_EQ(cudaMallocAsync(&allocated, sizeof(int), a), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(allocated, counter, sizeof(int), cudaMemcpyDeviceToDevice, a),
              cudaSuccess);
    EXPECT_EQ(cudaLaunchKernel(kernels::add_one, 1, 1, std::vector<void*>{&allocated}.data(), 0, a),
              cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(counter, allocated, sizeof(int), cudaMemcpyDeviceToDevice, a),
              cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(counter, a), cudaErrorInvalidValue)
        << "the memory does not belong to the graph";
    EXPECT_EQ(cudaFreeAsync(allocated, a), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(allocated, a), cudaErrorInvalidValue) << "twice";
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(end(a, &graph), cudaSuccess);
    EXPECT_EQ(size(graph), 5u);
    cudaGraphExec_t exec = instance(graph);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int round = 0; round < 3; ++round) EXPECT_EQ(cudaGraphLaunch(exec, a), cudaSuccess);
    int result = 0;
    EXPECT_EQ(cudaMemcpyAsync(&result, counter, sizeof(int), cudaMemcpyDeviceToHost, a),
              cudaSuccess);
    EXPECT_EQ(result, 3);
    EXPECT_EQ(runtime_.live(), "2 allocations, 1 stream, 1 graph");
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(runtime_.live(), "1 allocation, 1 stream");
  }
}

// The stream waits for the end of the graph's host function; the host thread that launched the
// graph does not wait.
TEST_F(CudaCapture, FunctionsOfTheHostInAGraphRunBesideTheHost) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    std::atomic<bool> released{false};
    cudaStream_t a = begin();
    EXPECT_EQ(cudaLaunchHostFunc(a, wait_for_flag, &released), cudaSuccess);
    append(a, 'a');
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(end(a, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(instance(graph), a), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(a), cudaErrorNotReady);
    EXPECT_EQ(log_, "");
    released = true;
    EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
    EXPECT_EQ(log_, "a");
  }
}

TEST_F(CudaCapture, AGraphIsANodeOfAnother) {
  const auto nested = [&] {
    cudaStream_t a = begin(kRelaxed), b = stream();
    EXPECT_EQ(wait(b, a), cudaSuccess);
    append(a, 'a');
    append(b, 'b');
    EXPECT_EQ(wait(a, b), cudaSuccess);
    cudaGraph_t inner = nullptr, outer = nullptr;
    EXPECT_EQ(end(a, &inner), cudaSuccess);
    a = begin(kRelaxed);
    append(a, '1');
    EXPECT_EQ(cudaGraphLaunch(instance(inner), a), cudaSuccess);
    append(a, '2');
    EXPECT_EQ(end(a, &outer), cudaSuccess);
    EXPECT_EQ(size(outer), 3u);
    EXPECT_EQ(cudaGraphLaunch(instance(outer), a), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
  };
  EXPECT_EQ(logs(nested), (Logs{"1ab2", "1ba2"}));
}

// Launches of one executable graph in two streams run one after the other (cuda_runtime_api.h at
// cudaGraphLaunch). Launches of two executable graphs may run at the same time.
TEST_F(CudaCapture, LaunchesOfAnInstanceRunInOrder) {
  const std::string all = "abcdefghijkl";
  const auto on_two_streams = [&](bool two_instances) {
    return logs([&, two_instances] {
      cudaStream_t a = begin(), b = stream(cudaStreamNonBlocking);
      for (const char letter : all) append(a, letter);
      cudaGraph_t graph = nullptr;
      EXPECT_EQ(end(a, &graph), cudaSuccess);
      cudaGraphExec_t exec = instance(graph);
      EXPECT_EQ(cudaGraphLaunch(exec, a), cudaSuccess);
      EXPECT_EQ(cudaGraphLaunch(two_instances ? instance(graph) : exec, b), cudaSuccess);
      EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    });
  };
  EXPECT_EQ(on_two_streams(false), Logs{all + all});
  EXPECT_GT(on_two_streams(true).size(), 1u) << "two executable graphs run at the same time";
}

// Checks the flags and arguments of the functions that instantiate a graph, and uploads the
// executable graph. Source of the rules: cuda_runtime_api.h at cudaGraphInstantiate and
// cudaGraphUpload.
TEST_F(CudaCapture, AGraphIsInstantiatedWithFlagsAndUploaded) {
  start(1);
  cudaStream_t a = begin();
  append(a, 'a');
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(end(a, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  constexpr unsigned long long kAutoFreeOnLaunch = 1, kUpload = 2, kDeviceLaunch = 4;
  for (const auto instantiate : {cudaGraphInstantiateWithFlags, cudaGraphInstantiate}) {
    EXPECT_EQ(instantiate(&exec, graph, kUpload), cudaErrorInvalidValue);
    EXPECT_EQ(instantiate(&exec, graph, kDeviceLaunch | kAutoFreeOnLaunch), cudaErrorInvalidValue);
    EXPECT_EQ(instantiate(&exec, graph, 16), cudaErrorInvalidValue);
    EXPECT_EQ(instantiate(&exec, graph, kDeviceLaunch), cudaErrorNotSupported);
    EXPECT_EQ(instantiate(&exec, nullptr, 0), cudaErrorInvalidValue);
  }
  EXPECT_EQ(runtime_.faults().front(),
            "cudaGraphInstantiateWithFlags(): cudaGraphInstantiateFlagDeviceLaunch: kernels cannot "
            "launch graphs; launch the graph from the host");
  EXPECT_EQ(cudaGraphUpload(exec, a), cudaErrorInvalidValue) << "not made";
  EXPECT_EQ(cudaGraphInstantiateWithFlags(&exec, graph, kAutoFreeOnLaunch), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(exec, a), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_EQ(log_, "") << "an upload must not run the graph";
  EXPECT_EQ(cudaGraphLaunch(exec, a), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_EQ(log_, "a");
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(exec, a), cudaErrorInvalidValue) << "gone";
}

TEST_F(CudaCapture, EndsWithItsStream) {
  start(1);
  cudaStream_t a = begin(), b = stream();
  EXPECT_EQ(wait(b, a), cudaSuccess);
  append(b, 'a');
  EXPECT_EQ(cudaStreamDestroy(a), cudaSuccess);
  EXPECT_EQ(status(b), cudaStreamCaptureStatusNone);
  append(b, 'b');
  EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
  EXPECT_EQ(log_, "b") << "work of the invalid capture belongs to no graph";
}

}  // namespace
}  // namespace kernkit::simulator
