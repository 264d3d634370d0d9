// SPDX-License-Identifier: Apache-2.0
// Correct kernels cause no report for any order of blocks, threads and streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "add/add.h"
#include "kernkit/simulator/runtime.h"
#include "on_device.h"
#include "scale/scale.h"
#include "shapes.h"

namespace kernkit::simulator {
namespace {

#if !defined(KERNKIT_SEEDS)
#define KERNKIT_SEEDS 1000
#endif

// Runs the test with the seeds 1 to KERNKIT_SEEDS, each time in a new runtime. Fails if test()
// returns false, or if the runtime finds a fault or a race.
template <class Test>
void each_seed(const Test& test) {
  for (unsigned seed = 1; seed <= KERNKIT_SEEDS; ++seed) {
    CudaRuntime runtime;
    runtime.run_kernels(true);
    runtime.set_seed(seed);
    ASSERT_TRUE(test()) << "seed " << seed;
    ASSERT_TRUE(runtime.faults().empty()) << runtime.faults()[0];
    ASSERT_EQ(runtime.races(), 0u) << "seed " << seed;
  }
}
template <class T>
bool all(OnDevice<T>& tensor, T value) {
  cudaDeviceSynchronize();
  return std::all_of(tensor.begin(), tensor.end(), [&](T x) { return x == value; });
}

TEST(Seeds, Elementwise) {
  each_seed([] {
    OnDevice<float> x({3000}), y({3000});
    std::fill(x.begin(), x.end(), 1.0f);
    kernels::scale(y.view("y"), x.view("x"), 3.0);
    kernels::add(y.view("z"), x.view("x"), y.view("y"));
    return all(y, 4.0f);
  });
}

TEST(Seeds, RowSum) {
  each_seed([] {
    OnDevice<float> sums({2}), x({2, 300});
    std::fill(x.begin(), x.end(), 1.0f);
    row_sum(sums.view("sums"), x.view("x"));
    return all(sums, 300.0f);
  });
}

TEST(Seeds, Transpose) {
  each_seed([] {
    OnDevice<float> y({33, 3}), x({3, 33});
    std::iota(x.begin(), x.end(), 0.0f);
    transpose(y.view("y"), x.view("x"));
    cudaDeviceSynchronize();
    for (int64_t i = 0; i < 99; ++i) {
      if (y[i] != x[i % 3 * 33 + i / 3]) return false;
    }
    return true;
  });
}

TEST(Seeds, Histogram) {
  each_seed([] {
    OnDevice<int> counts({256});
    OnDevice<uint8_t> x({256});
    std::iota(x.begin(), x.end(), uint8_t{0});
    histogram(counts.view("counts"), x.view("x"));
    return all(counts, 1);
  });
}

TEST(Seeds, Scan) {
  each_seed([] {
    const int64_t n = 3 * kScanThreads;
    OnDevice<int> y({n}), x({n}), state({1 + 3 * 3});
    std::fill(x.begin(), x.end(), 1);
    inclusive_scan(y.view("y"), x.view("x"), state.view("state"));
    cudaDeviceSynchronize();
    for (int64_t i = 0; i < n; ++i) {
      if (y[i] != i + 1) return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace kernkit::simulator
