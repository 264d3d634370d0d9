// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads or blocks wait for each other, on the CPU: correct for every order of
// blocks and threads.
#include "shapes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernkit/simulator/runtime.h"
#include "on_device.h"

namespace kernkit::simulator {
namespace {

class Shapes : public ::testing::TestWithParam<unsigned> {
 protected:
  Shapes() {
    runtime_.run_kernels(true);
    runtime_.set_seed(GetParam());
  }
  ~Shapes() override { EXPECT_TRUE(runtime_.faults().empty()) << runtime_.faults()[0]; }
  CudaRuntime runtime_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, Shapes, ::testing::Range(0u, 8u));

TEST_P(Shapes, RowSum) {
  for (const int64_t n : {1, 31, 256, 1000}) {
    OnDevice<float> sums({5}), x({5, n});
    for (int64_t i = 0; i < 5 * n; ++i) x[i] = static_cast<float>(i % 7 + i / n);
    row_sum(sums.view("sums"), x.view("x"));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int64_t row = 0; row < 5; ++row) {
      ASSERT_EQ(sums[row], std::accumulate(&x[row * n], &x[row * n] + n, 0.0f)) << n;
    }
  }
}

template <class T>
void check_transpose() {
  const int64_t m = 70, n = 33;
  OnDevice<T> y({n, m}), x({m, n});
  for (int64_t i = 0; i < m * n; ++i) x[i] = static_cast<T>(i);
  transpose(y.view("y"), x.view("x"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) ASSERT_EQ(y[j * m + i], x[i * n + j]) << i << " " << j;
  }
  ASSERT_TRUE(y.intact());
}
TEST_P(Shapes, Transpose) {
  check_transpose<float>();
  check_transpose<double>();
}

TEST_P(Shapes, Histogram) {
  OnDevice<int> counts({256});
  OnDevice<uint8_t> x({10007});
  std::vector<int> expected(256);
  for (int64_t i = 0; i < x.size(); ++i) ++expected[x[i] = static_cast<uint8_t>(i * i % 251)];
  histogram(counts.view("counts"), x.view("x"));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int v = 0; v < 256; ++v) ASSERT_EQ(counts[v], expected[static_cast<size_t>(v)]) << v;
}

TEST_P(Shapes, Scan) {
  for (const int64_t n : {1, 128, 129, 5000}) {
    OnDevice<int> y({n}), x({n}), state({1 + 3 * ((n + kScanThreads - 1) / kScanThreads)});
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<int>(i % 11 - 3);
    inclusive_scan(y.view("y"), x.view("x"), state.view("state"));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    int sum = 0;
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], sum += x[i]) << i << " of " << n;
  }
}

}  // namespace
}  // namespace kernkit::simulator
