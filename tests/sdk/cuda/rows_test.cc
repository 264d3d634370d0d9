// SPDX-License-Identifier: Apache-2.0
// The loop over rows of CUDA, run on the CPU thread by thread: rows of every length at every
// offset.
#include "kernkit/cuda/rows.cuh"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernkit/float.h"
#include "kernkit/math.h"
#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using testing::HostTensor;

// [rms_norm]
template <class T>
struct RmsNorm {
  int64_t d, stride;
  T* y;
  const T *x, *weight;
  float eps;

  template <class Row>
  __device__ void operator()(const Row& row, int64_t r) const {
    const auto in = row.load(x + r * stride);
    const float squares = row.sum([](float v) { return v * v; }, in);
    const float scale = math::rsqrt(squares / static_cast<float>(d) + eps);
    row.map([scale](float v, float g) { return v * scale * g; }, y + r * d, in, weight);
  }
};
// [/rms_norm]

template <class T>
struct Softmax {
  int64_t d;
  T* y;
  const T* x;

  template <class Row>
  __device__ void operator()(const Row& row, int64_t r) const {
    const auto in = row.load(x + r * d);
    const float largest = row.max([](float v) { return v; }, in);
    const auto parts = row.keep([largest](float v) { return math::exp(v - largest); }, in);
    const float total = row.sum([](float v) { return v; }, parts);
    row.map([total](float v) { return v / total; }, y + r * d, parts);
  }
};

class CudaRows : public ::testing::Test {
 protected:
  CudaRows() {
    runtime.run_kernels(true);
    dl.device = {kDLCUDA, 0};
  }
  ~CudaRows() override { EXPECT_TRUE(runtime.faults().empty()); }
  cuda::Launch launch() const { return cuda::Launch(TensorView(&dl, "x")); }

  simulator::CudaRuntime runtime;
  DLTensor dl{};
};

template <class T>
class CudaRowsOf : public CudaRows {
 protected:
  // Returns widths near the size of a pack and near the limits of each kernel, and the width of a
  // row that does not fit into registers.
  static std::vector<int64_t> widths() {
    constexpr int64_t kWidth = 16 / sizeof(T);
    return {1,
            kWidth - 1,
            kWidth,
            33 * kWidth + 1,
            64 * kWidth,
            64 * kWidth + 1,
            128 * kWidth + 1,
            1024 * kWidth + 1,
            4096 * kWidth + 1};
  }
  static void fill(HostTensor<T>& x, int seed) {
    for (int64_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(static_cast<float>((i * 37 + seed) % 101 - 50) * 0.0625f);
    }
  }
};
using RowTypes = ::testing::Types<float16, float>;
TYPED_TEST_SUITE(CudaRowsOf, RowTypes, );

TYPED_TEST(CudaRowsOf, NormAndSoftmaxAreRight) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 2e-6 : 2e-3;
  for (const int64_t d : this->widths()) {
    for (const int64_t gap : {0, 3}) {
      const int64_t n = d < 3000 ? 6 : 2;  // 6 rows need two blocks of four warps
      HostTensor<T> x({n * (d + gap)}, {1, 0, false}), weight({d}), y({n * d});
      this->fill(x, 1);
      this->fill(weight, 2);
      cuda::rows<T>(this->launch(), n, d,
                    RmsNorm<T>{d, d + gap, y.begin(), x.begin(), weight.begin(), 1e-6f});
      for (int64_t r = 0; r < n; ++r) {
        const T* in = x.begin() + r * (d + gap);
        double squares = 0;
        for (int64_t i = 0; i < d; ++i) squares += std::pow(static_cast<float>(in[i]), 2.0);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(d) + 1e-6);
        for (int64_t i = 0; i < d; ++i) {
          const double expected = static_cast<float>(in[i]) * scale * static_cast<float>(weight[i]);
          ASSERT_NEAR(static_cast<float>(y[r * d + i]), expected,
                      tolerance * (1 + std::fabs(expected)))
              << "d " << d << ", gap " << gap << ", row " << r << ", column " << i;
        }
      }
      ASSERT_TRUE(y.intact() && x.intact()) << "d " << d;
    }
    HostTensor<T> x({d}, {2, 0, false}), y({d}, {1, 0, false});
    this->fill(x, 3);
    cuda::rows<T>(this->launch(), 1, d, Softmax<T>{d, y.begin(), x.begin()});
    double total = 0;
    for (const T& value : x) total += std::exp(static_cast<float>(value) - 3.125);
    for (int64_t i = 0; i < d; ++i) {
      const double expected = std::exp(static_cast<float>(x[i]) - 3.125) / total;
      ASSERT_NEAR(static_cast<float>(y[i]), expected, tolerance * expected + 1e-7) << "d " << d;
    }
    ASSERT_TRUE(y.intact());
  }
}

// The results of a row have the same bits whether the row is the only row or one of several, at any
// address, and in each run.
TYPED_TEST(CudaRowsOf, BitsDependOnTheRowAlone) {
  using T = TypeParam;
  for (const int64_t d : this->widths()) {
    const int64_t n = 5;
    HostTensor<T> x({n * d}), weight({d}, {1, 0, false}), y({n * d});
    this->fill(x, 1);
    this->fill(weight, 2);
    cuda::rows<T>(this->launch(), n, d,
                  RmsNorm<T>{d, d, y.begin(), x.begin(), weight.begin(), 1e-6f});
    for (const int64_t offset : {0, 1, 2}) {
      HostTensor<T> alone({d}, {offset, 0, false}), out({d}, {3 - offset, 0, false});
      std::copy_n(x.begin() + 3 * d, d, alone.begin());
      cuda::rows<T>(this->launch(), 1, d,
                    RmsNorm<T>{d, d, out.begin(), alone.begin(), weight.begin(), 1e-6f});
      ASSERT_EQ(memcmp(out.begin(), y.begin() + 3 * d, static_cast<size_t>(d) * sizeof(T)), 0)
          << "d " << d << ", offset " << offset;
    }
  }
}

// Checks the number of threads that handle a row, and the number of packs that each thread keeps in
// registers, for rows of up to 1, 2, 16 and 64 KiB and for longer rows.
TEST_F(CudaRows, ThreadsByTheLengthOfARow) {
  const struct {
    int64_t d;
    unsigned blocks, threads;
    const char* kernel;
  } cases[] = {
      {256, 2, 128, "rows_kernel<32, 4, 2,"},      {257, 2, 128, "rows_kernel<32, 4, 4,"},
      {512, 2, 128, "rows_kernel<32, 4, 4,"},      {513, 7, 256, "rows_kernel<256, 4, 4,"},
      {4096, 7, 256, "rows_kernel<256, 4, 4,"},    {4097, 7, 1024, "rows_kernel<1024, 4, 4,"},
      {16384, 7, 1024, "rows_kernel<1024, 4, 4,"}, {16385, 7, 1024, "rows_kernel<1024, 4, 0,"}};
  for (const auto& c : cases) {
    HostTensor<float> x({7 * c.d}), y({7 * c.d});
    runtime.clear();
    cuda::rows<float>(launch(), 7, c.d, Softmax<float>{c.d, y.begin(), x.begin()});
    ASSERT_EQ(runtime.launches().size(), 1u);
    EXPECT_EQ(runtime.launches()[0].grid.x, c.blocks) << "d " << c.d;
    EXPECT_EQ(runtime.launches()[0].block.x, c.threads) << "d " << c.d;
    EXPECT_NE(runtime.launches()[0].kernel.find(c.kernel), std::string::npos)
        << "d " << c.d << ": " << runtime.launches()[0].kernel;
  }
  // For long rows of 8-byte elements a thread uses more registers.
  for (const int64_t d : {8192, 8193}) {
    HostTensor<double> x({d}), y({d});
    runtime.clear();
    cuda::rows<double>(launch(), 1, d, Softmax<double>{d, y.begin(), x.begin()});
    ASSERT_EQ(runtime.launches().size(), 1u);
    const char* expected = d == 8192 ? "rows_kernel<512, 2, 8," : "rows_kernel<1024, 2, 0,";
    EXPECT_NE(runtime.launches()[0].kernel.find(expected), std::string::npos)
        << "d " << d << ": " << runtime.launches()[0].kernel;
  }
  runtime.clear();
  cuda::rows<float>(launch(), 0, 4, Softmax<float>{4, nullptr, nullptr});
  EXPECT_TRUE(runtime.launches().empty());
}

struct SumAndMax {
  int64_t d;
  float *sum, *max;
  const float* x;
  template <class Row>
  __device__ void operator()(const Row& row, int64_t) const {
    *sum = row.sum([](float v) { return v; }, x);
    *max = row.max([](float v) { return v; }, x);
  }
};

TEST_F(CudaRows, NanIsKeptAndNothingIsZeroOrInfinity) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  HostTensor<float> x({1030}), sum({1}), max({1});
  for (const int64_t d : {3, 1030}) {
    for (const int64_t at : {int64_t{0}, d / 2, d - 1}) {
      for (const float value : {nan, -nan}) {
        std::fill(x.begin(), x.end(), 1.0f);
        x[at] = value;
        cuda::rows<float>(launch(), 1, d, SumAndMax{d, sum.begin(), max.begin(), x.begin()});
        EXPECT_TRUE(std::isnan(sum[0]) && std::isnan(max[0])) << "d " << d << ", at " << at;
      }
    }
  }
  cuda::rows<float>(launch(), 1, 0, SumAndMax{0, sum.begin(), max.begin(), x.begin()});
  EXPECT_EQ(sum[0], 0.0f);
  EXPECT_EQ(max[0], -inf);
}

// Reduces results of map() and keep() to a sum and a maximum for each row. The results of short
// rows stay in registers, those of long rows do not.
struct Reuse {
  int64_t d;
  float16* y;
  float *sum, *largest;
  const float16* x;
  template <class Row>
  __device__ void operator()(const Row& row, int64_t r) const {
    const auto third = row.map([](float v) { return v / 3; }, y + r * d, x + r * d);
    row.put(sum + r, row.sum([](float v) { return v; }, third));
    const auto both = row.keep([](float a, float b) { return a + b; }, third, x + r * d);
    row.put(largest + r, row.max([](float v) { return v; }, both));
  }
};

TEST_F(CudaRows, ReusesItsResults) {
  for (const int64_t d : {int64_t{5}, int64_t{1000}, int64_t{4096 * 8 + 3}}) {
    const int64_t n = 3;
    HostTensor<float16> x({n * d}), y({n * d});
    HostTensor<float> sum({n}), largest({n});
    for (int64_t i = 0; i < n * d; ++i) x[i] = float16(static_cast<float>(i % 7 - 3));
    cuda::rows<float16>(launch(), n, d,
                        Reuse{d, y.begin(), sum.begin(), largest.begin(), x.begin()});
    for (int64_t r = 0; r < n; ++r) {
      double total = 0, most = -100;
      for (int64_t i = r * d; i < (r + 1) * d; ++i) {
        const auto third =
            static_cast<float>(float16(static_cast<float>(x[i]) / 3));  // rounded to float16
        ASSERT_EQ(static_cast<float>(y[i]), third);
        total += static_cast<double>(third);
        most = std::max(most, static_cast<double>(third + static_cast<float>(x[i])));
      }
      EXPECT_NEAR(sum[r], total, 1e-3) << "d " << d;
      EXPECT_EQ(largest[r], most) << "d " << d;
    }
  }
}

// Ways in which a body overwrites memory of the row before it uses a value that it read from that
// memory. A short row is kept in registers; a use of overwritten values of a long row traps.
enum class Use { kBefore, kLoaded, kMapped, kKept, kPut, kPointer };
struct Overwrite {
  Use use;
  int64_t d;
  float *x, *y, *sum;
  template <class Row>
  __device__ void operator()(const Row& row, int64_t) const {
    const auto same = [](float v) { return v; };
    const auto seven = [](float) { return 7.0F; };
    const auto in = row.load(x);
    const auto twice = row.keep([](float v) { return 2 * v; }, x);
    if (use == Use::kBefore) {  // writes y, then x in place; then uses new values only
      const auto out = row.map(same, y, in);
      const auto last = row.map([](float a, float b) { return a + b; }, x, in, twice);
      const auto again = row.keep(same, row.load(x));
      row.put(sum, row.sum([](float a, float b, float c) { return a + b + c; }, last, again, out));
    } else if (use == Use::kLoaded) {
      row.map(seven, x, in);
      row.put(sum, row.sum(same, in));
    } else if (use == Use::kMapped) {
      const auto out = row.map(same, y, in);
      row.map(seven, y, in);
      row.put(sum, row.sum(same, out));
    } else if (use == Use::kKept) {
      row.map(seven, x, twice);
      row.put(sum, row.sum([](float v) { return v / 2; }, twice));
    } else if (use == Use::kPut) {
      row.put(x + d - 1, 1);
      row.put(sum, row.sum(same, in));
    } else {
      row.map(seven, x, in);
      row.put(sum, row.sum(same, x));
    }
  }
};

TEST_F(CudaRows, OverwrittenValuesOfALongRowAreAnError) {
  for (const int64_t d : {int64_t{5}, int64_t{1000}, int64_t{16384 + 3}}) {
    for (const Use use :
         {Use::kBefore, Use::kLoaded, Use::kMapped, Use::kKept, Use::kPut, Use::kPointer}) {
      HostTensor<float> x({d + 1}, {}, 1), y({d}), sum({1}, {}, -1);
      cuda::rows<float>(launch(), 1, d, Overwrite{use, d, x.begin(), y.begin(), sum.begin()});
      const cudaError_t error = cudaDeviceSynchronize();
      const std::vector<std::string> faults = runtime.faults();
      const bool fails = d > 16384 && use != Use::kBefore && use != Use::kPointer;
      SCOPED_TRACE(::testing::Message() << "use " << static_cast<int>(use) << ", d " << d);
      if (fails) {
        EXPECT_EQ(error, cudaErrorLaunchFailure);
        EXPECT_TRUE(!faults.empty() && faults[0].find("__trap()") != std::string::npos);
        runtime.~CudaRuntime();  // the device cannot be used after a trap
        new (&runtime) simulator::CudaRuntime;
        runtime.run_kernels(true);
      } else {
        const int64_t each = use == Use::kBefore ? 7 : use == Use::kPointer ? 7 : 1;
        EXPECT_EQ(sum[0], static_cast<float>(each * d));
      }
    }
  }
}

struct CopyRow {
  int64_t d, stride;
  uint8_t* y;
  const uint8_t* x;
  template <class Row>
  __device__ void operator()(const Row& row, int64_t r) const {
    row.map([](uint8_t v) { return v; }, y + r * d, row.load(x + r * stride));
  }
};

TEST_F(CudaRows, OffsetsOf64Bits) {
  const int64_t stride = (int64_t{1} << 32) + 5;
  const size_t bytes = static_cast<size_t>(stride) + 4096;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "the system provides no 4 GiB of address space";
  auto* x = static_cast<uint8_t*>(memory);
  for (int i = 0; i < 20; ++i) x[stride + i] = static_cast<uint8_t>(i + 1);
  HostTensor<uint8_t> y({40});
  cuda::rows<uint8_t>(launch(), 2, 20, CopyRow{20, stride, y.begin(), x});
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(y[20 + i], i + 1);
  munmap(memory, bytes);
}

// Reduces over a block in three successive calls, which return the results to every thread.
__global__ void reduce_block(float* sums, double* largest, const float* x) {
  const float value = x[threadIdx.x];
  sums[threadIdx.x] = cuda::block_sum(value) + cuda::block_sum(2 * value);
  largest[threadIdx.x] = cuda::block_max(static_cast<double>(-value));
}

TEST_F(CudaRows, BlockSumAndBlockMax) {
  for (const int64_t threads : {32, 96, 1024}) {
    HostTensor<float> x({threads}), sums({threads});
    HostTensor<double> largest({threads});
    for (int64_t i = 0; i < threads; ++i) x[i] = static_cast<float>(i + 5);
    launch()(reduce_block, {1, threads}, sums.begin(), largest.begin(), x.begin());
    const auto expected = static_cast<float>(3 * (threads * (threads - 1) / 2 + 5 * threads));
    for (int64_t i = 0; i < threads; ++i) {
      ASSERT_EQ(sums[i], expected) << threads << " threads";
      ASSERT_EQ(largest[i], -5.0);
    }
  }
}

}  // namespace
}  // namespace kernkit
