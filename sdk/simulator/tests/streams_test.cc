// SPDX-License-Identifier: Apache-2.0
// Delayed streams: ordered work runs in order, and missing order has visible effects.
#include <chrono>

#include "runtime/queue.h"
#include "streams_fixture.h"

namespace kernkit::simulator {
namespace {

TEST_F(CudaStreams, WithoutASeedWorkIsDoneAtOnce) {
  start(0);
  append(stream(), 'a');
  EXPECT_EQ(log_, "a");
}

TEST_F(CudaStreams, AStreamIsInOrderAndMayLag) {
  EXPECT_EQ(logs([&] {
              cudaStream_t a = stream();
              for (const char letter : {'1', '2', '3'}) append(a, letter);
              EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
            }),
            Logs{"123"});
  const Logs before = logs([&] { append(stream(), '1'); });
  EXPECT_EQ(before, (Logs{"", "1"})) << "the call must not wait for the stream";
}

TEST_F(CudaStreams, StreamsAreNotOrderedByDefault) {
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

TEST_F(CudaStreams, TheDefaultStreamAndBlockingStreamsWaitForEachOther) {
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

TEST_F(CudaStreams, EventsAndQueriesReportCompletedWork) {
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

// A stream waits until its host function has ended; the host thread and other streams do not wait.
TEST_F(CudaStreams, FunctionsOfTheHostRunBesideTheStream) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    std::atomic<bool> released{false};
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
    cudaLaunchHostFunc(a, wait_for_flag, &released);
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

// Calls that would wait forever on a GPU return an error in the simulator, and report a fault.
TEST_F(CudaStreams, AWaitThatNeverEndsIsAFault) {
  const auto faults = [&](const std::string& function, auto&& wait) {
    for (const unsigned seed : {0u, 1u}) {
      start(seed, 2);
      cudaSetDevice(1);
      EXPECT_EQ(cudaStreamSynchronize(stream()), cudaSuccess);
      cudaSetDevice(0);
      cudaStream_t a = stream();
      give(0, a, {0, [] {}, [] { return false; }});
      cudaEvent_t after = event();
      EXPECT_EQ(cudaEventRecord(after, a), cudaSuccess);
      append(a, 'a');
      EXPECT_EQ(wait(a, after), cudaErrorLaunchTimeout) << function;
      EXPECT_EQ(
          runtime_.faults(),
          std::vector<std::string>{
              function +
              "() never returns: it waits for work after an event that no stream will reach"});
      EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout) << "the device is lost";
      cudaSetDevice(1);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "the other device still works";
      cudaSetDevice(0);
      EXPECT_EQ(log_, "");
    }
  };
  faults("cudaStreamSynchronize",
         [](cudaStream_t a, cudaEvent_t) { return cudaStreamSynchronize(a); });
  faults("cudaDeviceSynchronize",
         [](cudaStream_t, cudaEvent_t) { return cudaDeviceSynchronize(); });
  faults("cudaEventSynchronize",
         [](cudaStream_t, cudaEvent_t e) { return cudaEventSynchronize(e); });
  faults("cudaMemcpy", [](cudaStream_t, cudaEvent_t) {
    int from = 0, to = 0;
    return cudaMemcpy(&to, &from, sizeof(int), cudaMemcpyHostToHost);
  });
  faults("cudaFree", [](cudaStream_t, cudaEvent_t) { return cudaFree(nullptr); });
  faults("cudaStreamQuery", [](cudaStream_t a, cudaEvent_t) {
    for (int i = 0; i < 100 && cudaStreamQuery(a) == cudaErrorNotReady; ++i) continue;
    return cudaStreamQuery(a);
  });
  faults("cudaEventQuery", [](cudaStream_t, cudaEvent_t e) {
    for (int i = 0; i < 100 && cudaEventQuery(e) == cudaErrorNotReady; ++i) continue;
    return cudaEventQuery(e);
  });
}

TEST_F(CudaStreams, AFunctionOfTheHostThatDoesNotEndIsAFault) {
  static std::atomic<bool> released;
  released = false;
  start(1);
  runtime_.set_watchdog(0.25);
  cudaStream_t a = stream();
  EXPECT_EQ(cudaLaunchHostFunc(a, wait_for_flag, &released), cudaSuccess);
  append(a, 'a');
  EXPECT_EQ(cudaStreamSynchronize(a), cudaErrorLaunchTimeout);
  EXPECT_EQ(runtime_.faults(),
            std::vector<std::string>{
                "cudaStreamSynchronize() never returns: it waits for a function given "
                "to cudaLaunchHostFunc(), which has not ended within 0.25 s"});
  EXPECT_EQ(log_, "");
  released = true;
}

TEST_F(CudaStreams, AFunctionOfTheHostMayNotCall) {
  start(1);
  cudaStream_t a = stream();
  struct Calls {
    cudaStream_t stream;
    cudaError_t error;
  } calls{a, cudaSuccess};
  cudaLaunchHostFunc(
      a,
      [](void* data) {
        auto* record = static_cast<Calls*>(data);
        record->error = cudaStreamSynchronize(record->stream);
      },
      &calls);
  EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_EQ(calls.error, cudaErrorNotPermitted);
}

// Work in a stream completes while the host only polls by cudaEventQuery() or cudaStreamQuery().
// With seed 0, only a host function delays the work.
TEST_F(CudaStreams, AHostThatPollsSeesTheEnd) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    std::atomic<bool> released{false};
    cudaStream_t a = stream();
    cudaEvent_t recorded = event();
    cudaLaunchHostFunc(a, wait_for_flag, &released);
    append(a, 'a');
    cudaEventRecord(recorded, a);
    append(a, 'b');
    released = true;
    const auto becomes_ready = [](const auto& query) {
      for (int i = 0; i < 2000; ++i) {
        if (query() == cudaSuccess) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return false;
    };
    EXPECT_TRUE(becomes_ready([&] { return cudaEventQuery(recorded); }));
    EXPECT_TRUE(becomes_ready([&] { return cudaStreamQuery(a); }));
    EXPECT_EQ(log_, "ab");
  }
}

TEST_F(CudaStreams, ARecordThatFailsIsNotWaitedFor) {
  start(1, 2);
  cudaEvent_t recorded = event();
  cudaSetDevice(1);
  cudaStream_t b = stream();
  EXPECT_EQ(cudaEventRecord(recorded, b), cudaErrorInvalidResourceHandle);
  cudaSetDevice(0);
  cudaStream_t a = stream();
  cudaStreamDestroy(b);
  EXPECT_EQ(cudaEventRecord(recorded, b), cudaErrorInvalidResourceHandle) << "gone";
  EXPECT_EQ(cudaEventQuery(recorded), cudaSuccess) << "the failing call must not record the event";
  EXPECT_EQ(cudaStreamWaitEvent(a, recorded), cudaSuccess);
  append(a, 'a');
  EXPECT_EQ(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_EQ(log_, "a");
}

// Checks which functions accept a stream or an event of a device that is not current (CUDA C++
// Programming Guide, section "Stream and Event Behavior" for multi-device systems).
TEST_F(CudaStreams, WhatMayBeOfAnotherDeviceThanTheCurrentOne) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed, 2);
    cudaEvent_t of_0 = event();
    cudaStream_t a = stream();
    cudaSetDevice(1);
    cudaStream_t b = stream();
    cudaEvent_t of_1 = event();
    cudaSetDevice(0);

    int *x = nullptr, value = 5, copy = 0;
    ASSERT_EQ(cudaMallocAsync(&x, sizeof(int), b), cudaSuccess);
    EXPECT_EQ(runtime_.used_memory(1), sizeof(int)) << "the memory belongs to the stream's device";
    EXPECT_EQ(runtime_.used_memory(0), 0u);
    EXPECT_EQ(cudaMemsetAsync(x, 0, sizeof(int), b), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(x, &value, sizeof(int), cudaMemcpyHostToDevice, b), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(&copy, x, sizeof(int), cudaMemcpyDeviceToHost, b), cudaSuccess);
    EXPECT_EQ(copy, 5);
    EXPECT_EQ(cudaFreeAsync(x, b), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(of_1, b), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(a, of_1), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(of_1), cudaSuccess);
    EXPECT_EQ(cudaEventQuery(of_1), cudaSuccess);
    EXPECT_EQ(runtime_.used_memory(1), 0u);
    EXPECT_EQ(cudaLaunchHostFunc(
                  b, [](void* ran) { *static_cast<int*>(ran) = 7; }, &copy),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(b), cudaSuccess);
    EXPECT_EQ(copy, 7);

    // These calls fail for an event or a stream of another device.
    EXPECT_EQ(cudaEventRecord(of_0, b), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventRecord(of_1, a), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventRecord(of_1, nullptr), cudaErrorInvalidResourceHandle) << "cuda:0's";
    EXPECT_EQ(cudaEventRecord(of_0, a), cudaSuccess);
    float milliseconds = 0;
    EXPECT_EQ(cudaEventSynchronize(of_0), cudaSuccess);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, of_0, of_1), cudaErrorInvalidResourceHandle);
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = 1;
    config.stream = b;
    EXPECT_EQ(cudaLaunchKernelEx(&config, kernels::append, &log_, 'x'),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(log_, "");
  }
}

TEST_F(CudaStreams, AWaitIsForTheLastRecordBeforeTheCall) {
  const auto run = [&](bool records_again_before_the_wait) {
    cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking),
                 c = stream(cudaStreamNonBlocking);
    cudaEvent_t done = event();
    for (int i = 0; i < 4; ++i) append(a, 'a');
    EXPECT_EQ(cudaEventRecord(done, a), cudaSuccess);
    const auto record_again = [&] { EXPECT_EQ(cudaEventRecord(done, c), cudaSuccess); };
    if (records_again_before_the_wait) record_again();
    EXPECT_EQ(cudaStreamWaitEvent(b, done), cudaSuccess);
    if (!records_again_before_the_wait) record_again();
    append(b, 'b');
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  };
  EXPECT_EQ(logs([&] { run(false); }), Logs{"aaaab"});
  EXPECT_GT(logs([&] { run(true); }).size(), 1u) << "the wait is for the record of stream c";
}

TEST_F(CudaStreams, MemoryIsFreedOnce) {
  for (unsigned seed = 0; seed <= 10; ++seed) {
    start(seed);
    cudaStream_t a = stream(), b = stream();
    int *x = nullptr, *y = nullptr;
    ASSERT_EQ(cudaMallocAsync(&x, sizeof(int), a), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(x, a), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(x, a), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeAsync(x, b), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(x), cudaErrorInvalidValue);
    ASSERT_EQ(cudaMalloc(&y, sizeof(int)), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(y, b), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(y, a), cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(runtime_.live(), "2 streams");
  }
}

}  // namespace
}  // namespace kernkit::simulator
