// SPDX-License-Identifier: Apache-2.0
// Streams that lag behind the host: what is ordered happens in order, what is not shows.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "kernkit/testing/cuda_runtime.h"

namespace kernels {
__global__ void append(std::string* log, char what) { *log += what; }
}  // namespace kernels

namespace kernkit::testing {
namespace {

class CudaStreams : public ::testing::Test {
 protected:
  void start(unsigned seed) {
    runtime_.~CudaRuntime();
    new (&runtime_) CudaRuntime;
    runtime_.run_kernels(true);
    runtime_.set_seed(seed);
    log_.clear();
  }
  static cudaStream_t stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, flags);
    return made;
  }
  void append(cudaStream_t stream, char what) {
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = 1;
    config.stream = stream;
    EXPECT_EQ(cudaLaunchKernelEx(&config, kernels::append, &log_, what), cudaSuccess);
  }
  // What any of 40 seeds leaves in the log.
  template <class Work>
  std::set<std::string> logs(const Work& work) {
    std::set<std::string> all;
    for (unsigned seed = 1; seed <= 40; ++seed) {
      start(seed);
      work();
      all.insert(log_);
    }
    return all;
  }

  CudaRuntime runtime_;
  std::string log_;
};
using Logs = std::set<std::string>;

TEST_F(CudaStreams, WithoutASeedWorkIsDoneAtOnce) {
  start(0);
  append(stream(), 'a');
  EXPECT_EQ(log_, "a");
}

TEST_F(CudaStreams, AStreamIsInOrderAndMayLag) {
  EXPECT_EQ(logs([&] {
              cudaStream_t a = stream();
              for (const char what : {'1', '2', '3'}) append(a, what);
              EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
            }),
            Logs{"123"});
  const Logs before = logs([&] { append(stream(), '1'); });
  EXPECT_EQ(before, (Logs{"", "1"})) << "the host did not wait";
}

TEST_F(CudaStreams, StreamsAreNotOrderedUnlessAsked) {
  const auto work = [&](bool ordered) {
    cudaStream_t a = stream(), b = stream();
    append(a, 'a');
    if (ordered) {
      cudaEvent_t event = nullptr;
      cudaEventCreate(&event);
      EXPECT_EQ(cudaEventRecord(event, a), cudaSuccess);
      EXPECT_EQ(cudaStreamWaitEvent(b, event, 0), cudaSuccess);
      cudaEventDestroy(event);
    }
    append(b, 'b');
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  EXPECT_EQ(logs([&] { work(false); }), (Logs{"ab", "ba"}));
  EXPECT_EQ(logs([&] { work(true); }), Logs{"ab"});
}

TEST_F(CudaStreams, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  const auto work = [&](unsigned flags) {
    cudaStream_t a = stream(flags), b = stream(flags);
    append(a, 'a');
    append(nullptr, '0');
    append(b, 'b');
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  EXPECT_EQ(logs([&] { work(cudaStreamDefault); }), Logs{"a0b"});
  EXPECT_GT(logs([&] { work(cudaStreamNonBlocking); }).size(), 1u);
}

TEST_F(CudaStreams, EventsAndQueriesTellWhatIsDone) {
  bool not_ready = false;
  EXPECT_EQ(logs([&] {
              cudaStream_t a = stream();
              cudaEvent_t event = nullptr;
              cudaEventCreate(&event);
              append(a, 'a');
              cudaEventRecord(event, a);
              not_ready |= cudaEventQuery(event) == cudaErrorNotReady;
              EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
              EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
              append(a, 'b');
              while (cudaStreamQuery(a) == cudaErrorNotReady) {
              }
            }),
            Logs{"ab"});
  EXPECT_TRUE(not_ready);
}

TEST_F(CudaStreams, CopiesAndFreeingWait) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    start(seed);
    int* memory = nullptr;
    int value = 5, copy = 0;
    cudaStream_t a = stream(), b = stream();
    ASSERT_EQ(cudaMallocAsync(&memory, sizeof(int), a), cudaSuccess);
    cudaMemcpyAsync(memory, &value, sizeof(int), cudaMemcpyHostToDevice, a);
    cudaMemcpy(&copy, memory, sizeof(int), cudaMemcpyDeviceToHost);
    EXPECT_EQ(copy, 5);
    cudaMemsetAsync(memory, 0, sizeof(int), b);
    cudaMemcpyAsync(&copy, memory, sizeof(int), cudaMemcpyDeviceToHost, b);
    EXPECT_EQ(cudaFreeAsync(memory, b), cudaSuccess);
    cudaStreamSynchronize(b);
    EXPECT_EQ(copy, 0);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    EXPECT_EQ(runtime_.live(), "");
  }
}

// Its stream waits for it, the host and other streams do not.
TEST_F(CudaStreams, FunctionsOfTheHostRunBesideIt) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    std::atomic<bool> released{false};
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    cudaLaunchHostFunc(
        a,
        [](void* flag) {
          while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
        },
        &released);
    append(a, 'a');
    append(b, 'b');
    EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(a), cudaErrorNotReady);
    EXPECT_EQ(log_, "b");
    released = true;
    EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
    EXPECT_EQ(log_, "ba");
  }
}

}  // namespace
}  // namespace kernkit::testing
