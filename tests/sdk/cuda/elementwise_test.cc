// SPDX-License-Identifier: Apache-2.0
// The elementwise loop of CUDA, run on the CPU thread by thread: every element is computed once,
// for all offsets.
#include "kernkit/cuda/elementwise.cuh"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <type_traits>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

using cuda::Launch;
using simulator::CudaLaunch;
using simulator::CudaRuntime;
using testing::error_of;
using testing::HostTensor;

struct Wide {
  uint64_t low, high;
};

struct Negate {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(-x);
  }
};
struct Subtract {
  template <class T, class U>
  T operator()(T x, U y) const {
    return static_cast<T>(x - static_cast<T>(y));
  }
};
struct Widen {
  double operator()(uint8_t x) const { return x; }
};
struct Narrow {
  int16_t operator()(double x, float y) const { return static_cast<int16_t>(x + 2 * y); }
};
struct Sum {
  template <class... T>
  auto operator()(T... x) const {
    return static_cast<std::common_type_t<T...>>((x + ...));
  }
};
struct Seven {
  float operator()() const { return 7; }
};
struct Same {
  Wide operator()(Wide x, Wide) const { return x; }
};

// An array whose first element is `offset` elements after a 64-byte boundary, with guarded memory
// on both sides.
template <class T>
struct Array : HostTensor<T> {
  explicit Array(int64_t n, int64_t offset = 0) : HostTensor<T>({n}, {offset, 0, false}) {
    for (int64_t i = 0; i < n; ++i) (*this)[i] = static_cast<T>(i * 7 % 100 + 1);
  }
};

template <class T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

class CudaElementwise : public ::testing::Test {
 protected:
  CudaElementwise() {
    runtime.run_kernels(true);
    dl.device = {kDLCUDA, 0};
  }
  Launch launch() const { return Launch(TensorView(&dl, "x")); }

  CudaRuntime runtime;
  DLTensor dl{};
};

template <class T>
class CudaElementwiseOf : public CudaElementwise {};
using Types = ::testing::Types<uint8_t, int16_t, float, double>;
TYPED_TEST_SUITE(CudaElementwiseOf, Types, );

// The number of elements of a tile: 256 threads load 64 bytes each, or 32 bytes of 1-byte elements.
template <class T>
constexpr int64_t kTile = 256 * (sizeof(T) == 1 ? 32 : 64 / sizeof(T));

TYPED_TEST(CudaElementwiseOf, EveryEdgeAndOffset) {
  constexpr int64_t kWidth = 16 / sizeof(TypeParam);
  for (const int64_t n :
       {int64_t{1}, kWidth - 1, kWidth, kWidth + 1, int64_t{255}, kTile<TypeParam> - 1,
        kTile<TypeParam>, kTile<TypeParam> + 1, 2 * kTile<TypeParam> + kWidth + 1}) {
    for (int64_t offset = 0; offset < kWidth; ++offset) {
      for (const int64_t shift : {int64_t{0}, int64_t{1}}) {
        Array<TypeParam> x(n, offset), y(n, offset + shift);
        cuda::elementwise(this->launch(), n, Negate{}, y.begin(),
                          static_cast<const TypeParam*>(x.begin()));
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; ++i) {
          wrong += y[i] != static_cast<TypeParam>(-static_cast<TypeParam>(i * 7 % 100 + 1));
        }
        ASSERT_EQ(wrong, 0) << "n " << n << ", offset " << offset << ", shift " << shift;
        ASSERT_TRUE(x.intact() && y.intact()) << "n " << n << ", offset " << offset;
      }
    }
  }
}

// Arrays with equal offsets use the fast path, which is one launch. The number of elements before
// the first whole pack depends on the offset.
TYPED_TEST(CudaElementwiseOf, TakesPacksForEqualOffsets) {
  constexpr int64_t kWidth = 16 / sizeof(TypeParam);
  const int64_t n = 4 * kTile<TypeParam>;
  for (int64_t offset = 0; offset < kWidth; ++offset) {
    Array<TypeParam> x(n, offset), y(n, offset);
    this->runtime.clear();
    cuda::elementwise(this->launch(), n, Negate{}, y.begin(),
                      static_cast<const TypeParam*>(x.begin()));
    const std::vector<CudaLaunch> launches = this->runtime.launches();
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].grid.x, 4u);
    EXPECT_EQ(launches[0].block.x, 256u);
    EXPECT_EQ(launches[0].argument<int64_t>(0), n);
    EXPECT_EQ(launches[0].argument<int>(1), (kWidth - offset) % kWidth);
  }
}

TYPED_TEST(CudaElementwiseOf, InPlace) {
  const int64_t n = 2 * kTile<TypeParam> + 3;
  for (const int64_t offset : {0, 1}) {
    Array<TypeParam> x(n, offset), y(n, 0);
    cuda::elementwise(this->launch(), n, Subtract{}, x.begin(),
                      static_cast<const TypeParam*>(x.begin()),
                      static_cast<const TypeParam*>(y.begin()));
    for (const TypeParam value : x) ASSERT_EQ(value, TypeParam(0));
    EXPECT_TRUE(x.intact() && y.intact());
  }
}

// With element types of different sizes, a pack has the same number of elements in each array: here
// two, because an array has elements of 8 bytes.
TEST_F(CudaElementwise, MixedTypes) {
  for (const int64_t offset : {0, 1, 2, 5}) {
    const int64_t n = 5000;
    Array<uint8_t> x(n, offset);
    Array<double> y(n, offset);
    runtime.clear();
    cuda::elementwise(launch(), n, Widen{}, y.begin(), static_cast<const uint8_t*>(x.begin()));
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], static_cast<double>(i * 7 % 100 + 1));
    EXPECT_EQ(runtime.launches()[0].argument<int>(1), offset % 2) << "two doubles are a pack";

    Array<int16_t> z(n, offset);
    Array<float> f(n, offset + 1);
    cuda::elementwise(launch(), n, Narrow{}, z.begin(), static_cast<const double*>(y.begin()),
                      static_cast<const float*>(f.begin()));
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(z[i], 3 * (i * 7 % 100 + 1));
    EXPECT_TRUE(x.intact() && y.intact() && z.intact() && f.intact());
  }
}

// Tests ops that return element types and whose parameters are floats or element types.
template <class T>
void expect_elements(const Launch& launch) {
  for (const int64_t offset : {0, 1}) {
    HostTensor<T> x({5000}, {offset, 0, false}), y({5000});
    for (int64_t i = 0; i < 5000; ++i) x[i] = T(static_cast<float>(i % 100));
    const auto expect = [&](float factor) {
      for (int64_t i = 0; i < 5000; ++i) {
        ASSERT_EQ(static_cast<float>(y[i]), static_cast<float>(i % 100) * factor);
      }
    };
    const auto* in = static_cast<const T*>(x.begin());
    cuda::elementwise(
        launch, 5000, [](float value) { return T(-value); }, y.begin(), in);
    expect(-1);
    cuda::elementwise(
        launch, 5000, [](T value) { return T(2 * static_cast<float>(value)); }, y.begin(), in);
    expect(2);
    EXPECT_TRUE(y.intact());
  }
}
TEST_F(CudaElementwise, OpReturnsElements) {
  expect_elements<float16>(launch());
  expect_elements<bfloat16>(launch());
}

// An op with five inputs, which together exceed the load size of a thread, is computed correctly.
TYPED_TEST(CudaElementwiseOf, ManyInputs) {
  const int64_t n = 5000;
  for (const int64_t offset : {0, 1}) {
    Array<TypeParam> x(n, offset), y(n, offset);
    const TypeParam* in = x.begin();
    cuda::elementwise(this->launch(), n, Sum{}, y.begin(), in, in, in, in, in);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], static_cast<TypeParam>(5 * x[i])) << i;
    EXPECT_TRUE(x.intact() && y.intact());
  }
}

TEST_F(CudaElementwise, NoInput) {
  Array<float> y(3000, 1);
  cuda::elementwise(launch(), 3000, Seven{}, y.begin());
  for (const float value : y) ASSERT_EQ(value, 7.0f);
  EXPECT_TRUE(y.intact());
}

TEST_F(CudaElementwise, EmptyLaunchesNothing) {
  for (const int64_t n : {0, -1}) {
    cuda::elementwise(launch(), n, Seven{}, static_cast<float*>(nullptr));
  }
  EXPECT_EQ(runtime.launches().size(), 0u);
}

TEST_F(CudaElementwise, RejectsAnAddressBetweenElements) {
  EXPECT_EQ(error_of([&] {
              cuda::elementwise(launch(), 4, Negate{}, at<float>(0x2000), at<const float>(0x1002));
            }),
            "ValueError: elementwise: address 0x1002 is not aligned to elements of 4 bytes");
  EXPECT_EQ(error_of([&] {
              cuda::elementwise(launch(), 4, Subtract{}, at<float>(0x2000), at<const float>(0x1004),
                                at<const float>(0x1001));
            }),
            "ValueError: elementwise: address 0x1001 is not aligned to elements of 4 bytes");
  EXPECT_EQ(runtime.launches().size(), 0u);
}

// For 2^40 elements the grid has one block for each tile, for every type and both paths.
TEST_F(CudaElementwise, GridOf2To40) {
  runtime.run_kernels(false);
  const int64_t n = int64_t{1} << 40;
  const auto blocks = [&](int64_t tile) {
    const auto launches = runtime.launches();
    runtime.clear();
    EXPECT_EQ(launches.size(), 1u);
    EXPECT_EQ(static_cast<int64_t>(launches.at(0).grid.x), (n + tile - 1) / tile);
  };
  // Kernels do not run, so only the alignment of the addresses matters.
  cuda::elementwise(launch(), n, Negate{}, at<uint8_t>(4096), at<const uint8_t>(8192));
  blocks(8192);
  cuda::elementwise(launch(), n, Negate{}, at<float>(4096), at<const float>(8196));
  blocks(2048);
  cuda::elementwise(launch(), n, Subtract{}, at<double>(4096), at<const double>(8192),
                    at<const double>(8192));
  blocks(1024);
  cuda::elementwise(launch(), n, Same{}, at<Wide>(4096), at<const Wide>(64), at<const Wide>(128));
  blocks(1024);
}

// Runs the blocks at the indices 2^31 and 2^32 of arrays that are almost entirely unmapped: an
// index that wraps would write to other elements.
TEST_F(CudaElementwise, IndexBeyond32Bits) {
  const size_t n = (size_t{1} << 32) + 100;
  const auto map = [&] {
    void* memory = mmap(nullptr, n, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
  };
  uint8_t* x = map();
  uint8_t* y = map();
  ASSERT_TRUE(x != nullptr && y != nullptr) << "the system provides no address space";
  const auto kernel = cuda::detail::elementwise_kernel<16, 2, Negate, uint8_t, uint8_t>;
  for (const size_t first : {size_t{1} << 31, size_t{1} << 32}) {
    x[first] = 1;
    x[first + 99] = 2;
    blockIdx.x = static_cast<unsigned>(first / 8192);
    for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) {
      kernel(static_cast<int64_t>(n), 0, Negate{}, y, x);
    }
    EXPECT_EQ(y[first], 255);
    EXPECT_EQ(y[first + 99], 254);
  }
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[99], 0);
  munmap(x, n);
  munmap(y, n);
}

}  // namespace
}  // namespace kernkit
