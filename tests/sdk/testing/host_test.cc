// SPDX-License-Identifier: Apache-2.0
// The host of a test program: an op can allocate tensors on the CPU and, in a program with CUDA, on
// a GPU of the simulator. Also tests list arguments in calls of an op's C++ function.
#include "kernkit/testing/host.h"

#include <gtest/gtest.h>

#include "kernkit/bytes.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/list.h"
#include "kernkit/testing/tensor.h"
#if defined(KERNKIT_WITH_CUDA)
#include "kernkit/simulator/runtime.h"
#endif

namespace kernkit {
namespace {

TEST(TestingHost, AllocatesOnTheCpu) {
  const Tensor tensor = alloc_tensor({2, 3}, dl_float32, {kDLCPU, 0});
  static_cast<float*>(tensor.data_ptr())[5] = 1;
  EXPECT_EQ(tensor.numel(), 6);
}

// Returns the arguments of an op with these parameters as text.
std::string received(ListView<TensorView> xs, ListView<std::string_view> names, ListView<double> w,
                     ListView<BytesView> bytes) {
  std::string text;
  for (const TensorView x : xs) text += x.name() + std::to_string(x.numel()) + ";";
  for (const std::string_view name : names) text += std::string(name) + ";";
  for (const double x : w) text += std::to_string(static_cast<int>(4 * x)) + ";";
  for (const BytesView x : bytes) text += std::to_string(x.size()) + ";";
  return text;
}

TEST(TestingHost, ListsOfEveryKind) {
  testing::HostTensor<float> a({2}), b({3, 4});
  const testing::TestList<TensorView> xs(a.view("xs"), b.view("xs"));
  const testing::TestList<std::string_view> names("short", "longer than a value has room for");
  const testing::TestList<double> w(std::vector<double>{0.25, 2});
  const testing::TestList<BytesView> bytes(BytesView("a\0b", 3));
  EXPECT_EQ(received(xs.view("xs"), names.view("names"), w.view("w"), bytes.view("bytes")),
            "xs2;xs12;short;longer than a value has room for;1;8;3;");
  const testing::TestList<TensorView> none;
  EXPECT_TRUE(none.view("none").empty());
}

#if defined(KERNKIT_WITH_CUDA)

TEST(TestingHost, AllocatesOnTheRequestedDevice) {
  simulator::CudaRuntime runtime(std::vector<simulator::CudaDevice>(2));
  {
    const Tensor tensor = alloc_tensor({2, 3}, dl_float32, {kDLCUDA, 1});
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, tensor.data_ptr()), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 1);
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0);
  }
  EXPECT_EQ(runtime.live(), "");
}

#else

TEST(TestingHost, RejectsAGpuWithoutCuda) {
  const std::string error = testing::error_of([] {
    alloc_tensor({2, 3}, dl_float32, {kDLCUDA, 1});
  });
  EXPECT_EQ(
      error,
      "ValueError: cannot allocate float32 [2, 3] on cuda:1: CPUNDAlloc: device cuda:1 is not "
      "the CPU");
}

#endif

}  // namespace
}  // namespace kernkit
