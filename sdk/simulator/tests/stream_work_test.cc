// SPDX-License-Identifier: Apache-2.0
// Work of the host in the order of streams and graphs.
#include "kernkit/simulator/stream_work.h"

#include <algorithm>
#include <string>

#include "kernkit/simulator/reports.h"
#include "streams_fixture.h"

namespace kernkit::simulator {
namespace {

// Work that appends a letter to a log.
struct Letter {
  std::string* log;
  char letter;
  int* released;

  static const char* append(void* data) {
    const auto& self = *static_cast<Letter*>(data);
    *self.log += self.letter;
    return self.letter == '!' ? "index 7 is out of bounds" : nullptr;
  }
  static void release(void* data) {
    ++*static_cast<Letter*>(data)->released;
    delete static_cast<Letter*>(data);
  }
};

class CudaStreamWork : public CudaStreams {
 protected:
  cudaError_t append_by_host(cudaStream_t stream, char letter) {
    const kernkit_stream_work work{"work::append",
                                   nullptr,
                                   Letter::append,
                                   Letter::release,
                                   new Letter{&log_, letter, &released_},
                                   nullptr,
                                   0};
    return kernkit_enqueue_work(stream, &work);
  }
  int released_ = 0;
};

TEST_F(CudaStreamWork, RunsInTheOrderOfItsStream) {
  const Logs orders = logs([&] {
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    append(a, '1');
    EXPECT_EQ(append_by_host(a, '2'), cudaSuccess);
    append(a, '3');
    EXPECT_EQ(append_by_host(b, 'x'), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  });
  EXPECT_GE(orders.size(), 2u) << "the streams are independent";
  for (std::string order : orders) {
    order.erase(std::remove(order.begin(), order.end(), 'x'), order.end());
    EXPECT_EQ(order, "123");
  }
  EXPECT_EQ(released_, 80) << "two pieces of work for each of 40 seeds";
}

TEST_F(CudaStreamWork, RunsAtOnceWithoutASeed) {
  start(0);
  EXPECT_EQ(append_by_host(nullptr, 'a'), cudaSuccess);
  EXPECT_EQ(log_, "a");
  EXPECT_EQ(released_, 1);
}

TEST_F(CudaStreamWork, WaitsForAnEvent) {
  for (unsigned seed = 0; seed <= 20; ++seed) {
    start(seed);
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    append(a, '1');
    cudaEvent_t after = event();
    EXPECT_EQ(cudaEventRecord(after, a), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(b, after), cudaSuccess);
    EXPECT_EQ(append_by_host(b, '2'), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
    EXPECT_EQ(log_, "12");
  }
}

TEST_F(CudaStreamWork, IsANodeOfAGraph) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    released_ = 0;
    cudaStream_t a = stream(cudaStreamNonBlocking);
    EXPECT_EQ(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal), cudaSuccess);
    append(a, '1');
    EXPECT_EQ(append_by_host(a, '2'), cudaSuccess);
    append(a, '3');
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(a, &graph), cudaSuccess);
    EXPECT_EQ(log_, "");
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(exec, a), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
    EXPECT_EQ(log_, "123123");
    EXPECT_EQ(released_, 0);
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(released_, 1);
  }
}

TEST_F(CudaStreamWork, ADescriptionIsAFaultOfTheDevice) {
  start(0);
  EXPECT_EQ(append_by_host(nullptr, '!'), cudaSuccess);
  EXPECT_EQ(runtime_.faults(), std::vector<std::string>{"work::append: index 7 is out of bounds"});
  char text[13];
  EXPECT_EQ(kernkit_report(0, text, sizeof text), runtime_.faults()[0].size());
  EXPECT_STREQ(text, "work::append");
  EXPECT_EQ(kernkit_report(0, nullptr, 0), runtime_.faults()[0].size());
  EXPECT_EQ(kernkit_report(1, text, sizeof text), 0u);
  kernkit_add_report("of a test");
  EXPECT_EQ(kernkit_report(1, text, sizeof text), 9u);
  EXPECT_STREQ(text, "of a test");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_EQ(append_by_host(nullptr, 'a'), cudaErrorAssert);
  EXPECT_EQ(released_, 2) << "the data of work that does not run is released too";
}

TEST_F(CudaStreamWork, ATurnComesAfterEarlierWork) {
  for (unsigned seed = 0; seed <= 20; ++seed) {
    start(seed);
    cudaStream_t a = stream(), b = stream(cudaStreamNonBlocking);
    std::atomic<bool> released{false};
    cudaLaunchHostFunc(b, wait_for_flag, &released);
    append(a, '1');
    int is_captured = 1;
    EXPECT_EQ(kernkit_wait_for_turn(a, &is_captured), cudaSuccess);
    EXPECT_EQ(is_captured, 0);
    EXPECT_EQ(log_, "1");
    append(a, '2');
    EXPECT_EQ(kernkit_wait_for_turn(nullptr, &is_captured), cudaSuccess) << "a is blocking";
    EXPECT_EQ(log_, "12");
    EXPECT_EQ(cudaStreamQuery(b), cudaErrorNotReady) << "b is non-blocking";
    released = true;
    EXPECT_EQ(kernkit_wait_for_turn(b, &is_captured), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(b), cudaSuccess);
  }
}

TEST_F(CudaStreamWork, ATurnInACapture) {
  start(0);
  cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
  EXPECT_EQ(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal), cudaSuccess);
  int is_captured = 0;
  EXPECT_EQ(kernkit_wait_for_turn(a, &is_captured), cudaSuccess);
  EXPECT_EQ(is_captured, 1);
  EXPECT_EQ(kernkit_wait_for_turn(b, &is_captured), cudaSuccess);
  EXPECT_EQ(is_captured, 0);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(a, &graph), cudaSuccess) << "the capture is valid";
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CudaStreamWork, WrongArguments) {
  EXPECT_EQ(kernkit_wait_for_turn(nullptr, nullptr), cudaErrorInvalidValue);
  start(0);
  EXPECT_EQ(kernkit_enqueue_work(nullptr, nullptr), cudaErrorInvalidValue);
  const kernkit_stream_work unnamed{nullptr, nullptr, Letter::append, nullptr, nullptr, nullptr, 0};
  EXPECT_EQ(kernkit_enqueue_work(nullptr, &unnamed), cudaErrorInvalidValue);
  const kernkit_stream_work without_work{"work", nullptr, nullptr, nullptr, nullptr, nullptr, 0};
  EXPECT_EQ(kernkit_enqueue_work(nullptr, &without_work), cudaErrorInvalidValue);
  cudaStream_t destroyed = stream();
  EXPECT_EQ(cudaStreamDestroy(destroyed), cudaSuccess);
  EXPECT_EQ(append_by_host(destroyed, 'a'), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(log_, "");
  EXPECT_EQ(released_, 1);
}

}  // namespace
}  // namespace kernkit::simulator
