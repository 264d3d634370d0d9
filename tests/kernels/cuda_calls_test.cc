// SPDX-License-Identifier: Apache-2.0
// The kernels' use of the CUDA runtime: device, stream, launch, and failures of each call. Built
// twice: with the .cu files compiled for the CPU, and with nvcc's objects.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "add/add.h"
#include "kernkit/cuda/device_guard.h"
#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/reference.h"
#include "kernkit/testing/sweep.h"
#include "kernkit/testing/tensor.h"
#include "scale/scale.h"

namespace {
thread_local cudaStream_t host_streams[128] = {};
}

extern "C" __attribute__((visibility("default"))) void* TVMFFIEnvGetStream(int32_t type,
                                                                           int32_t id) {
  return type == kDLCUDA && id < 128 ? host_streams[id] : nullptr;
}

namespace kernkit::kernels {
namespace {

using simulator::CudaCall;
using simulator::CudaDevice;
using simulator::CudaFault;
using simulator::CudaLaunch;
using simulator::CudaRuntime;
using testing::error_of;
using testing::fill_random_bits;
using testing::HostTensor;

// Device memory allocated through the runtime.
class DeviceTensor {
 public:
  DeviceTensor(int device, DLDataType dtype, int64_t n) : n_(n) {
    CUDADeviceGuard guard(device);
    if (n != 0) {
      KERNKIT_CUDA_CHECK(cudaMalloc(&dl_.data, static_cast<size_t>(n) * dtype_bits(dtype) / 8));
    }
    dl_.device = {kDLCUDA, device};
    dl_.dtype = dtype;
    dl_.ndim = 1;
    dl_.shape = &n_;
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;
  ~DeviceTensor() { (void)cuda::succeeded(cudaFree(dl_.data)); }
  DLTensor* dl() { return &dl_; }
  void* data() const { return dl_.data; }
  TensorView view(const char* name) const { return {&dl_, name}; }

 private:
  int64_t n_;
  DLTensor dl_{};
};

// The name of an op, and a function that allocates tensors, calls `before`, and calls the op.
struct Op {
  const char* name;
  std::function<void(int device, DLDataType, int64_t n, const std::function<void()>& before)> call;
};
void PrintTo(const Op& op, std::ostream* out) { *out << op.name; }

const Op kOps[] = {
    {"scale",
     [](int device, DLDataType dtype, int64_t n, const std::function<void()>& before) {
       DeviceTensor y(device, dtype, n), x(device, dtype, n);
       before();
       scale(y.view("y"), x.view("x"), 2.0);
     }},
    {"add",
     [](int device, DLDataType dtype, int64_t n, const std::function<void()>& before) {
       DeviceTensor z(device, dtype, n), x(device, dtype, n), y(device, dtype, n);
       before();
       add(z.view("z"), x.view("x"), y.view("y"));
     }},
};

int current() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

class CudaCalls : public ::testing::TestWithParam<Op> {
 protected:
  ~CudaCalls() override {
    for (cudaStream_t& stream : host_streams) stream = nullptr;
  }
  const Op& op() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(, CudaCalls, ::testing::ValuesIn(kOps),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(CudaCalls, LaunchesOnTheDeviceAndStreamOfItsTensors) {
  CudaRuntime runtime(std::vector<CudaDevice>(3));
  cudaSetDevice(2);
  cudaStreamCreate(&host_streams[2]);
  cudaSetDevice(1);
  cudaStreamCreate(&host_streams[1]);
  for (const int device : {1, 2, 0}) {
    op().call(device, dl_float32, 10000, [&] { runtime.clear(); });
    EXPECT_EQ(current(), 1);
    const std::vector<CudaLaunch> launches = runtime.launches();
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].device, device);
    EXPECT_EQ(launches[0].stream, host_streams[device]);
    EXPECT_NE(launches[0].kernel.find("elementwise_kernel"), std::string::npos);
    EXPECT_EQ(launches[0].argument<int64_t>(0), 10000);
  }
}

TEST_P(CudaCalls, NeitherAllocatesNorSynchronises) {
  CudaRuntime runtime(std::vector<CudaDevice>(2));
  for (int round = 0; round < 2; ++round) {
    size_t memory = 0;
    op().call(1, dl_float16, 4099, [&] {
      runtime.clear();
      memory = runtime.used_memory(1);
    });
    std::string between;
    for (const CudaCall& call : runtime.calls()) {
      if (call.function == "cudaFree") break;  // a call of the test, after the op's calls
      if (call.function != "cudaDeviceGetAttribute") between += call.function + " ";
    }
    EXPECT_EQ(between, "cudaGetDevice cudaSetDevice cudaLaunchKernelExC cudaSetDevice ");
    EXPECT_GT(memory, 0u);
  }
  EXPECT_EQ(runtime.live(), "");
}

TEST_P(CudaCalls, EmptyLaunchesNothing) {
  CudaRuntime runtime;
  op().call(0, dl_float32, 0, [&] { runtime.clear(); });
  EXPECT_TRUE(runtime.launches().empty());
}

// If any runtime call of an op fails, the op throws an error that names the runtime function,
// launches no kernel, and restores the current device. Each case uses a device whose limits the op
// has not queried before, as in a new process.
TEST_P(CudaCalls, FailureAtEveryCall) {
  CudaRuntime runtime(std::vector<CudaDevice>(64));
  static int fresh = 1;  // limits are queried once for each device
  std::vector<CudaCall> clean;
  op().call(fresh++, dl_float32, 1000, [&] { runtime.clear(); });
  for (const CudaCall& call : runtime.calls()) {
    if (call.function == "cudaFree") break;
    clean.push_back(call);
  }
  ASSERT_GE(clean.size(), 4u);
  ASSERT_EQ(clean.back().function, "cudaSetDevice") << "the last call restores the device";
  for (size_t k = 1; k < clean.size(); ++k) {
    runtime.clear();
    const std::string error = error_of([&] {
      op().call(fresh, dl_float32, 1000, [&] {
        runtime.fail("", static_cast<int>(k), cudaErrorMemoryAllocation);
        runtime.clear();
      });
    });
    const std::string& function = clean[k - 1].function;
    EXPECT_EQ(error.find("RuntimeError: " + function + "("), 0u) << k << ": " << error;
    EXPECT_NE(error.find(") failed: cudaErrorMemoryAllocation: out of memory"), std::string::npos)
        << k << ": " << error;
    EXPECT_EQ(runtime.launches().size(), 0u) << k;
    EXPECT_EQ(current(), 0) << k;
    EXPECT_EQ(runtime.live(), "") << k;
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << k;
    if (function == "cudaDeviceGetAttribute" || function == "cudaLaunchKernelExC") ++fresh;
  }
  // If the device cannot be restored, nothing is thrown, because the kernel was launched.
  EXPECT_EQ(error_of([&] {
              op().call(fresh++, dl_float32, 1000, [&] {
                runtime.fail("cudaSetDevice", 2, cudaErrorMemoryAllocation);
                runtime.clear();
              });
            }),
            "nothing");
  EXPECT_EQ(runtime.launches().size(), 1u);
}

TEST_P(CudaCalls, PendingErrorIsNotItsOwn) {
  CudaRuntime runtime;
  op().call(0, dl_float32, 1000, [&] {
    runtime.clear();
    runtime.plant(CudaFault::kPending, cudaErrorInvalidConfiguration);
  });
  EXPECT_EQ(runtime.launches().size(), 1u);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

TEST_P(CudaCalls, LostContextIsReported) {
  CudaRuntime runtime;
  const std::string error = error_of([&] {
    op().call(0, dl_float32, 1000,
              [&] { runtime.plant(CudaFault::kSticky, cudaErrorIllegalAddress); });
  });
  EXPECT_EQ(error.find("RuntimeError: cudaLaunchKernelExC(kernkit::cuda::detail::elementwise_"), 0u)
      << error;
  EXPECT_NE(error.find("the CUDA context is lost: restart the process"), std::string::npos);
}

TEST_P(CudaCalls, IsCaptured) {
  CudaRuntime runtime;
  cudaStreamCreate(&host_streams[0]);
  op().call(0, dl_float32, 1000,
            [] { cudaStreamBeginCapture(host_streams[0], cudaStreamCaptureModeRelaxed); });
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(host_streams[0], &graph), cudaSuccess);
  size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
}

TEST_P(CudaCalls, TwoThreadsTwoDevices) {
  CudaRuntime runtime(std::vector<CudaDevice>(2));
  cudaStream_t streams[2];
  const auto work = [&](int device) {
    {
      CUDADeviceGuard guard(device);
      cudaStreamCreate(&host_streams[device]);
    }
    streams[device] = host_streams[device];
    for (int i = 0; i < 50; ++i) op().call(device, dl_float32, 100 + device, [] {});
    EXPECT_EQ(current(), 0);
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  ASSERT_EQ(runtime.launches().size(), 100u);
  for (const CudaLaunch& launch : runtime.launches()) {
    const auto device = static_cast<int>(launch.argument<int64_t>(0) - 100);
    ASSERT_EQ(launch.device, device);
    ASSERT_EQ(launch.stream, streams[device]);
  }
}

TEST(CudaCallsOf, TensorsOnDifferentDevices) {
  CudaRuntime runtime(std::vector<CudaDevice>(2));
  DeviceTensor y(1, dl_float32, 4), x(0, dl_float32, 4);
  EXPECT_EQ(error_of([&] { scale(y.view("y"), x.view("x"), 2.0); }),
            "ValueError: y: device cuda:1 does not match x (cuda:0)");
  EXPECT_EQ(error_of([&] { scale_cuda(y.view("y"), x.view("x"), 2.0); }),
            "ValueError: x: device cuda:0 does not match y (cuda:1)");
  EXPECT_TRUE(runtime.launches().empty());
}

const DLDataType kAddTypes[] = {dl_float16, dl_bfloat16, dl_float32, dl_float64, dl_int8,
                                dl_int16,   dl_int32,    dl_int64,   dl_uint8};

// For every dtype, add() passes the number of elements and the tensors to the kernel in the right
// order.
TEST(CudaCallsOf, Arguments) {
  CudaRuntime runtime;
  for (const DLDataType dtype : kAddTypes) {
    DeviceTensor z(0, dtype, 999), x(0, dtype, 999), y(0, dtype, 999);
    runtime.clear();
    add(z.view("z"), x.view("x"), y.view("y"));
    const CudaLaunch launch = runtime.launches().at(0);
    EXPECT_EQ(launch.argument<int64_t>(0), 999);
    EXPECT_EQ(launch.argument<int>(1), 0);
    EXPECT_EQ(launch.argument<void*>(3), z.data());
    EXPECT_EQ(launch.argument<void*>(4), x.data());
    EXPECT_EQ(launch.argument<void*>(5), y.data());
  }
}

#if defined(KERNELS_FROM_NVCC)

// On a device for which nvcc compiled no code, the error of the launch lists the architectures in
// the fat binary of the library.
TEST(CudaCallsOf, NoKernelImage) {
  CudaRuntime runtime({CudaDevice{75}});
  DeviceTensor y(0, dl_float32, 4), x(0, dl_float32, 4);
  const std::string error = error_of([&] { scale(y.view("y"), x.view("x"), 2.0); });
  EXPECT_EQ(error.find("RuntimeError: cudaLaunchKernelExC("), 0u) << error;
  EXPECT_NE(error.find("this library was built for " KERNELS_FROM_NVCC "; cuda:0 is sm_75; rebuild "
                       "with -DCMAKE_CUDA_ARCHITECTURES=75"),
            std::string::npos)
      << error;
}

#else

template <class T>
bool same(const T* a, const T* b, int64_t n) {
  return std::memcmp(a, b, static_cast<size_t>(n) * sizeof(T)) == 0;
}

// Expects that the .cu files give the results of the .cc files, at every edge of packs and tiles.
template <class T, class Call>
void expect_same_as_cpu(const Call& call) {
  for (const int64_t n : {1, 15, 16, 17, 2048, 4096 + 3, 8192 + 16}) {
    for (const int64_t first : {0, 1, 3}) {
      HostTensor<T> x({n}, {first, 0, false}), y({n}, {first, 0, false});
      HostTensor<T> on_cpu({n}), on_cuda({n}, {first, 0, false});
      fill_random_bits(x, 1);
      fill_random_bits(y, 2);
      call(on_cpu.view("z"), x.view("x"), y.view("y"));
      for (auto* tensor : {&x, &y, &on_cuda}) tensor->dl()->device = {kDLCUDA, 0};
      call(on_cuda.view("z"), x.view("x"), y.view("y"));
      const int64_t wrong = testing::first_difference(
          n, [&](int64_t i) { return on_cuda[i]; }, [&](int64_t i) { return on_cpu[i]; });
      ASSERT_EQ(wrong, -1) << n << " from " << first;
      ASSERT_TRUE(on_cuda.intact());
    }
  }
}

TEST(CudaCallsOf, SameBitsAsOnTheCpu) {
  CudaRuntime runtime;
  runtime.run_kernels(true);
  for (const DLDataType dtype : {dl_float16, dl_bfloat16, dl_float32, dl_float64}) {
    dispatch(ScaleTypes{}, dtype, [](auto tag) {
      expect_same_as_cpu<type_of<decltype(tag)> >(
          [](TensorView z, TensorView x, TensorView) { scale(z, x, -0.7); });
    });
  }
  for (const DLDataType dtype : kAddTypes) {
    dispatch(AddTypes{}, dtype, [](auto tag) {
      expect_same_as_cpu<type_of<decltype(tag)> >(
          [](TensorView z, TensorView x, TensorView y) { add(z, x, y); });
    });
  }
}

#endif

}  // namespace
}  // namespace kernkit::kernels
