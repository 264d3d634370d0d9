// SPDX-License-Identifier: Apache-2.0
// Tests on which stream and device the work of an op runs, and in which order: the caller's stream,
// graphs, threads, every device, rejected calls.
#include "case.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::gpu {
namespace {

using testing::error_of;

constexpr int64_t kSize = 8192 + 4099;

template <class Op>
class GpuStream : public GpuTest {};
using TwoOps = ::testing::Types<ScaleOp<float>, AddOp<float16>>;
TYPED_TEST_SUITE(GpuStream, TwoOps, OpName);

// [stream]
// The call returns at once, and its work waits for earlier work of the caller's stream.
TYPED_TEST(GpuStream, WorkIsEnqueuedOnTheCallersStream) {
  Case<TypeParam> c(kSize);
  ASSERT_EQ(c.run(kSize), "");  // loads the kernel
  c.place(kSize);
  c.stream.synchronize();
  const Stream observer;
  {
    Hold hold(c.stream.get());
    c.call();
    EXPECT_EQ(cudaStreamQuery(c.stream.get()), cudaErrorNotReady);
    (void)cudaGetLastError();  // clears "not ready"
    EXPECT_EQ(c.out.wrong(nullptr, observer), "")
        << "the kernel ran before earlier work of its stream";
  }
  EXPECT_EQ(c.wrong(), "");
}
// [/stream]

// Without a caller's stream the op uses the default stream, which is not synchronised with the
// test's other streams.
TYPED_TEST(GpuStream, WithoutAStreamUsesTheDefaultStream) {
  Case<TypeParam> c(kSize);
  ASSERT_EQ(c.run(kSize), "");
  c.place(kSize);
  c.stream.synchronize();
  const Stream observer;
  const Hold hold(c.stream.get());
  TypeParam::call(c.out.view("out"), c.x.view("x"), c.y.view("y"));
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(c.out.wrong(c.expected(), observer), "");
}

// No call precedes the capture: the first launch of a process may be captured. (`./kk gpu` also
// runs this test in a separate process.)
TYPED_TEST(GpuStream, IsCapturedAndReplayed) {
  Case<TypeParam> c(kSize);
  c.place(kSize);
  c.stream.synchronize();
  cudaGraph_t graph = nullptr;
  KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(c.stream.get(), cudaStreamCaptureModeGlobal));
  const std::string error = error_of([&] { c.call(); });
  KERNKIT_CUDA_CHECK(cudaStreamEndCapture(c.stream.get(), &graph));
  ASSERT_EQ(error, "nothing");
  EXPECT_EQ(c.out.wrong(nullptr, c.stream), "") << "the kernel ran during the capture";
  cudaGraphExec_t replay = nullptr;
  KERNKIT_CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  for (unsigned round = 0; round < 3; ++round) {
    using T = typename TypeParam::Element;
    c.set(random_bits<T>(kSize, 10 + round), random_bits<T>(kSize, 20 + round));
    c.upload();
    KERNKIT_CUDA_CHECK(cudaGraphLaunch(replay, c.stream.get()));
    EXPECT_EQ(c.wrong(), "") << "round " << round;
  }
  EXPECT_EQ(cudaGraphExecDestroy(replay), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// The caller's stream joins the capture of another stream, and the captured graph contains the op's
// work.
TYPED_TEST(GpuStream, JoinsACapture) {
  Case<TypeParam> c(kSize);
  ASSERT_EQ(c.run(kSize), "");
  c.place(kSize);
  c.stream.synchronize();
  const Stream origin;
  const auto wait = [](const Stream& stream, const Stream& other) {
    cudaEvent_t event = nullptr;
    KERNKIT_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    KERNKIT_CUDA_CHECK(cudaEventRecord(event, other.get()));
    KERNKIT_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), event));
    KERNKIT_CUDA_CHECK(cudaEventDestroy(event));
  };
  const auto capture = [&](bool joined) {
    cudaGraph_t graph = nullptr;
    KERNKIT_CUDA_CHECK(cudaStreamBeginCapture(origin.get(), cudaStreamCaptureModeGlobal));
    wait(c.stream, origin);
    const std::string error = error_of([&] { c.call(); });
    if (joined) wait(origin, c.stream);
    EXPECT_EQ(cudaStreamEndCapture(origin.get(), &graph),
              joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    (void)cudaGetLastError();
    EXPECT_EQ(error, "nothing");
    return graph;
  };
  EXPECT_EQ(capture(false), nullptr);
  cudaGraph_t graph = capture(true);
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(c.out.wrong(nullptr, c.stream), "") << "the kernel ran during the capture";
  cudaGraphExec_t replay = nullptr;
  KERNKIT_CUDA_CHECK(cudaGraphInstantiate(&replay, graph));
  KERNKIT_CUDA_CHECK(cudaGraphLaunch(replay, origin.get()));
  origin.synchronize();
  EXPECT_EQ(c.wrong(), "");
  EXPECT_EQ(cudaGraphExecDestroy(replay), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// Each thread has its own current stream: the work of a second thread finishes while the stream of
// the first thread is blocked.
TYPED_TEST(GpuStream, EachThreadHasItsOwn) {
  Case<TypeParam> delayed(kSize), independent(kSize);
  ASSERT_EQ(delayed.run(kSize), "");
  delayed.place(kSize);
  delayed.stream.synchronize();
  const Stream observer;
  {
    const Hold hold(delayed.stream.get());
    const StreamGuard guard(delayed.stream.device(), delayed.stream.get());
    std::string wrong = "the thread did not run";
    std::thread([&] { wrong = independent.run(kSize); }).join();
    EXPECT_EQ(wrong, "");
    TypeParam::call(delayed.out.view("out"), delayed.x.view("x"), delayed.y.view("y"));
    EXPECT_EQ(delayed.out.wrong(nullptr, observer), "");
  }
  EXPECT_EQ(delayed.wrong(), "");
}

TYPED_TEST(GpuStream, OnEveryDevice) {
  const int count = device_count();
  for (int device = 0; device < count; ++device) {
    for (const int current : {device, (device + 1) % count}) {
      KERNKIT_CUDA_CHECK(cudaSetDevice(current));
      Case<TypeParam> c(kSize, device);
      EXPECT_EQ(c.run(kSize), "") << "device " << device;
      int after = -1;
      EXPECT_EQ(cudaGetDevice(&after), cudaSuccess);
      EXPECT_EQ(after, current);
    }
  }
  KERNKIT_CUDA_CHECK(cudaSetDevice(0));
}

TYPED_TEST(GpuStream, ThousandCallsAllocateNothing) {
  Case<TypeParam> c(kSize);
  ASSERT_EQ(c.run(kSize), "");
  // Other processes may also allocate memory of the device, so one of five rounds without a change
  // of the free memory is sufficient.
  bool quiet = false;
  for (int round = 0; round < 5 && !quiet; ++round) {
    size_t before = 0, after = 1, total = 0;
    KERNKIT_CUDA_CHECK(cudaMemGetInfo(&before, &total));
    for (int i = 0; i < 1000; ++i) c.call();
    c.stream.synchronize();
    KERNKIT_CUDA_CHECK(cudaMemGetInfo(&after, &total));
    quiet = before == after;
  }
  EXPECT_TRUE(quiet);
}

class GpuRejections : public GpuTest {};

// Rejected calls write nothing, and a later valid call with the same tensors succeeds.
TEST_F(GpuRejections, TensorsOnDifferentDevices) {
  Case<AddOp<float>> c(kSize);
  testing::HostTensor<float> host({kSize}, {}, 5.0f);
  c.place(kSize);
  EXPECT_EQ(error_of([&] { kernels::scale(c.out.view("y"), host.view("x"), 2.0); }),
            "ValueError: y: device cuda:0 does not match x (cpu)");
  EXPECT_EQ(error_of([&] { kernels::scale(host.view("y"), c.x.view("x"), 2.0); }),
            "ValueError: y: device cpu does not match x (cuda:0)");
  EXPECT_EQ(error_of([&] { kernels::add(c.out.view("z"), c.x.view("x"), host.view("y")); }),
            "ValueError: y: device cpu does not match x (cuda:0)");
  EXPECT_EQ(c.out.wrong(nullptr, c.stream), "");
  for (const float value : host) ASSERT_EQ(value, 5.0f);
  c.call();
  EXPECT_EQ(c.wrong(), "");
}

TEST_F(GpuRejections, TensorsOnTwoGpus) {
  if (device_count() < 2) GTEST_SKIP() << "needs 2 CUDA devices, found 1";
  Case<ScaleOp<float>> first(kSize, 0), second(kSize, 1);
  first.place(kSize);
  second.place(kSize);
  EXPECT_EQ(error_of([&] { kernels::scale(first.out.view("y"), second.x.view("x"), 2.0); }),
            "ValueError: y: device cuda:0 does not match x (cuda:1)");
  EXPECT_EQ(first.out.wrong(nullptr, first.stream), "");
}

TEST_F(GpuRejections, DeviceThatDoesNotExist) {
  Case<ScaleOp<float>> c(kSize);
  c.place(kSize);
  c.out.dl()->device.device_id = c.x.dl()->device.device_id = 99;
  EXPECT_EQ(error_of([&] { kernels::scale(c.out.view("y"), c.x.view("x"), 2.0); }),
            "RuntimeError: cudaSetDevice(99) failed: cudaErrorInvalidDevice: invalid device "
            "ordinal");
  c.out.dl()->device.device_id = c.x.dl()->device.device_id = 0;
  c.call();
  EXPECT_EQ(c.wrong(), "");
}

TEST_F(GpuRejections, ErrorOfAnEarlierCallIsNotBlamedOnTheLaunch) {
  Case<ScaleOp<float>> c(kSize);
  c.place(kSize);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(error_of([&] { c.call(); }), "nothing");
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation)
      << "the call must not clear the pending error";
  EXPECT_EQ(c.wrong(), "");
}

}  // namespace
}  // namespace kernkit::gpu
