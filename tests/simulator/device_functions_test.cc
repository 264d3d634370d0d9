// SPDX-License-Identifier: Apache-2.0
// CUDA's additions to C++ according to CUDA's programming guide.
#include "device_functions.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "on_device.h"

namespace kernkit::simulator {
namespace {

class DeviceFunctions : public ::testing::TestWithParam<unsigned> {
 protected:
  DeviceFunctions() {
    runtime_.run_kernels(true);
    runtime_.set_seed(GetParam());
  }
  CudaRuntime runtime_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, DeviceFunctions, ::testing::Range(0u, 5u));

TEST_P(DeviceFunctions, Warp) {
  OnDevice<int> results({32, kWarpResults});
  run_warp_functions(results.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int lane = 0; lane < 32; ++lane) {
    int by_three = 0, same = 0;
    for (int i = 0; i < 32; ++i) {
      if (i % 3 == 0) by_three |= 1 << i;
      if (i % 4 == lane % 4) same |= static_cast<int>(1u << i);
    }
    const int expected[kWarpResults] = {
        50,
        (lane / 8 * 8 + 5) * 10,
        lane < 3 ? lane : lane - 3,
        lane % 16 < 3 ? lane : lane - 3,
        lane > 28 ? lane : lane + 3,
        lane % 4 == 0 ? lane + 3 : lane,
        lane ^ 16,
        lane < 16 ? lane : lane - 16,
        by_three,
        1,
        0,
        same,
        0,
        496,
        0,
        -1,
        lane < 16 ? 15 : 17,
        9,
        lane == 31 ? 31 : lane + 1,
        64,
    };
    for (int i = 0; i < kWarpResults; ++i) {
      EXPECT_EQ(results[lane * kWarpResults + i], expected[i]) << "lane " << lane << ", " << i;
    }
  }
}

TEST_P(DeviceFunctions, Converged) {
  constexpr int kLanes = 29;
  constexpr unsigned kAll = (1u << kLanes) - 1;
  OnDevice<int> results({kLanes, kConvergedResults});
  OnDevice<int> lists({3, 1000});
  run_converged_lanes(results.view("results"), lists.view("lists"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<int> elements[2];
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 40; ++i) {
      if ((i * lane) % 3 != 2) elements[(i * lane) % 3].push_back(i * 100 + lane);
    }
    const int* r = results.begin() + lane * kConvergedResults;
    const auto mask = [&](int i) { return static_cast<unsigned>(r[i]); };
    EXPECT_EQ(mask(0), kAll) << lane;
    EXPECT_EQ(mask(1), lane < 16 ? 0xffffu : kAll & ~0xffffu) << lane;
    // 21 of 29 lanes run the first round of the loop, 14 the second and 7 the third.
    EXPECT_EQ(r[2], lane % 4 == 0 ? 0 : lane % 4 == 1 ? 21 : lane % 4 == 2 ? 35 : 42) << lane;
    EXPECT_EQ(mask(3), kAll) << lane;
    EXPECT_EQ(mask(4), lane < 4 ? 0xfu : kAll & ~0xfu) << lane;
    const int halves[] = {0x15555555, -0x0aaaaaaa};
    EXPECT_EQ(r[11], halves[lane % 2]) << lane;
    if (lane % 5 != 2) continue;
    // The group consists of lanes 2, 7, 12, 17, 22 and 27.
    const int rank = lane / 5;
    const int expected[] = {
        87, rank > 0 ? lane - 5 : lane, rank < 4 ? lane + 10 : lane, 0b111100 * 100 + rank,
        10, lane < 10 ? 0b11 : 0b111100};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(r[5 + i], expected[i]) << lane << ", " << i;
  }
  for (const int list : {0, 1}) {
    int* first = lists.begin() + list * 1000;
    std::sort(elements[list].begin(), elements[list].end());
    ASSERT_EQ(first[0], static_cast<int>(elements[list].size()));
    std::sort(first + 1, first + 1 + first[0]);
    EXPECT_EQ(std::vector<int>(first + 1, first + 1 + first[0]), elements[list]);
  }
}

TEST_P(DeviceFunctions, Block) {
  OnDevice<int> results({64, 8});
  run_block_functions(results.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int thread = 0; thread < 64; ++thread) {
    const int first = thread / 8 * 8;
    const int expected[8] = {
        22, 0, 1, 63 - thread, 8 * first + 28, first + 2, 200 + first / 8, first + 7};
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(results[thread * 8 + i], expected[i]) << thread << " " << i;
  }
}

TEST_P(DeviceFunctions, Numbers) {
  OnDevice<float> r({24});
  run_number_functions(r.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#if defined(KERNELS_FROM_NVCC)
  float counted = 0;  // each CudaRuntime initialises the variables of the module
#else
  static float counted = 0;
#endif
  counted += 2;
  const float expected[24] = {
      9,     0.5f,         7,    0.25f, 18, 1.25f, 99,      3, 1, 4.5f, 1, 1.25f,
      17.5f, 0.333984375f, 1.5f, 5,     8,  5,     counted, 5, 1, 1,    1, 2};
  for (int i = 0; i < 24; ++i) EXPECT_EQ(r[i], expected[i]) << i;
}

TEST_P(DeviceFunctions, Atomics) {
  OnDevice<int> r({16});
  run_atomics(r.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  float halves = 0;
  std::memcpy(&halves, &r[7], sizeof(float));
  EXPECT_EQ(r[0], 255 * 128);
  EXPECT_EQ(r[1], -256);
  EXPECT_EQ(r[2], 255);
  EXPECT_EQ(r[3], -255);
  EXPECT_EQ(r[4], 0x7fffffff);
  EXPECT_EQ(r[5], 0);
  EXPECT_EQ(r[6], 256 % 10);
  EXPECT_EQ(halves, 128.0f);
  EXPECT_EQ(r[8], 512);
  EXPECT_EQ(r[11], 256);
  EXPECT_EQ(r[12], 0);
  EXPECT_EQ(r[13], 256);
}

// Sums wrap around modulo 2^32 or 2^64, and UndefinedBehaviorSanitizer does not report these sums.
TEST_P(DeviceFunctions, Wrapping) {
  OnDevice<int> r({12});
  run_wrapping_atomics(r.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  // The results of up to 256 additions of 2^31 - 1 or a similar number. The last two results are
  // sums of the 32 lanes of a warp.
  const int expected[12] = {-256, 256, 0, -256, -256, 256, -256, 0, -256, -1, -32, -32};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(r[i], expected[i]) << i;
}

TEST_P(DeviceFunctions, BlocksThatWaitForEachOtherBetweenBarriers) {
  OnDevice<int> r({6});
  run_waiting_blocks(r.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(r[0], 4);
  EXPECT_GE(r[1], 4);
  for (int block = 0; block < 4; ++block) EXPECT_EQ(r[2 + block], 4) << block;
}

TEST_P(DeviceFunctions, Qualified) {
  OnDevice<int> r({64, 3});
  run_qualified_functions(r.view("results"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int thread = 0; thread < 64; ++thread) {
    const int from = 63 - thread;
    EXPECT_EQ(r[3 * thread], from % 2 == 0 ? 2 * from : 3 * from) << thread;
    EXPECT_EQ(r[3 * thread + 1], 2 * 32 * 31 + 3 * 32 * 32) << thread;
    EXPECT_EQ(r[3 * thread + 2], static_cast<int>(std::to_string(thread * thread).size()))
        << thread;
  }
}

}  // namespace
}  // namespace kernkit::simulator
