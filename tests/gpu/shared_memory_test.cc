// SPDX-License-Identifier: Apache-2.0
// Launches whose static and dynamic shared memory exceed 48 KiB together.
#include "shared_memory.h"

#include "gpu.h"
#include "kernkit/cuda/device_properties.h"
#include "kernkit/testing/tensor.h"

namespace kernkit::gpu {
namespace {

class GpuSharedMemory : public GpuTest {};

TEST_F(GpuSharedMemory, StaticAndDynamicTogether) {
  const int64_t opt_in = cuda::device_properties(0).shared_memory_per_block_opt_in;
  const int64_t most = opt_in / static_cast<int64_t>(sizeof(float));
  const Stream stream(0);
  DeviceTensor<float> x(0, most), y(0, most);
  const std::vector<float> values = random_bits<float>(most, 1);
  for (const int64_t n : {kStaticFloats, 12 * int64_t{1024}, 15 * int64_t{1024}, most}) {
    x.place(0, n, stream);
    y.place(0, n, stream);
    x.upload(values.data(), stream);
    stream.synchronize();
    EXPECT_EQ(testing::error_of([&] { copy_through_shared_memory(y.view("y"), x.view("x")); }),
              "nothing")
        << n << " floats";
    KERNKIT_CUDA_CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(y.wrong(values.data(), stream), "") << n << " floats";
  }
}

TEST_F(GpuSharedMemory, TooMuchTogether) {
  const int64_t opt_in = cuda::device_properties(0).shared_memory_per_block_opt_in;
  const int64_t n = opt_in / static_cast<int64_t>(sizeof(float)) + 1;
  DeviceTensor<float> x(0, n), y(0, n);
  x.place(0, n, Stream(0));
  y.place(0, n, Stream(0));
  const std::string error =
      testing::error_of([&] { copy_through_shared_memory(y.view("y"), x.view("x")); });
  const std::string dynamic = std::to_string(n * 4 - kStaticFloats * 4);
  EXPECT_NE(
      error.find(dynamic + " bytes of dynamic and " + std::to_string(kStaticFloats * 4) +
                 " of static shared memory per block, the limit is " + std::to_string(opt_in)),
      std::string::npos)
      << error;
}

}  // namespace
}  // namespace kernkit::gpu
