// SPDX-License-Identifier: Apache-2.0
// Tests tensors of more than 2^31 and more than 2^32 elements, for which an index of 32 bits would
// wrap.
#include <algorithm>
#include <memory>

#include "checked_ranges.h"
#include "gpu.h"
#include "ops.h"

namespace kernkit::gpu {
namespace {

// No power of two is a multiple of the period, so an index that wraps at 2^31 or 2^32 accesses a
// different value.
constexpr int64_t kPeriod = (1 << 18) - 5;

// n elements in device memory, with contents that repeat after kPeriod elements.
template <class T>
class Periodic {
 public:
  Periodic(int64_t n, int64_t first) : n_(n) {
    KERNKIT_CUDA_CHECK(cudaMalloc(&memory_, static_cast<size_t>(n + first) * sizeof(T)));
    dl_.data = static_cast<T*>(memory_) + first;
    dl_.device = {kDLCUDA, 0};
    dl_.dtype = dtype_of<T>;
    dl_.ndim = 1;
    dl_.shape = &n_;
  }
  ~Periodic() { (void)cuda::succeeded(cudaFree(memory_)); }
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

  void fill(const std::vector<T>& period) {
    for (const Range& range : checked_ranges(n_)) {
      for (int64_t i = range.first; i < range.end; i += left_of_period(i)) {
        copy(data() + i, &period[static_cast<size_t>(i % kPeriod)],
             std::min(left_of_period(i), range.end - i), cudaMemcpyHostToDevice);
      }
    }
  }
  void poison() {
    for (const Range& range : checked_ranges(n_)) {
      const auto bytes = static_cast<size_t>(range.end - range.first) * sizeof(T);
      KERNKIT_CUDA_CHECK(cudaMemset(data() + range.first, 0x7e, bytes));
    }
  }
  /// Returns the index of the first element that differs from the periodic contents, or -1.
  int64_t first_wrong(const std::vector<T>& period) {
    std::vector<T> read(static_cast<size_t>(kPeriod));
    for (const Range& range : checked_ranges(n_)) {
      for (int64_t i = range.first; i < range.end; i += left_of_period(i)) {
        const int64_t count = std::min(left_of_period(i), range.end - i);
        const T* expected = &period[static_cast<size_t>(i % kPeriod)];
        copy(read.data(), data() + i, count, cudaMemcpyDeviceToHost);
        if (std::memcmp(read.data(), expected, static_cast<size_t>(count) * sizeof(T)) == 0)
          continue;
        for (int64_t k = 0; k < count; ++k) {
          if (std::memcmp(&read[static_cast<size_t>(k)], &expected[k], sizeof(T)) != 0)
            return i + k;
        }
      }
    }
    return -1;
  }
  TensorView view(const char* name) const { return {&dl_, name}; }

 private:
  T* data() { return static_cast<T*>(dl_.data); }
  static int64_t left_of_period(int64_t i) { return kPeriod - i % kPeriod; }
  static void copy(T* to, const T* from, int64_t count, cudaMemcpyKind kind) {
    KERNKIT_CUDA_CHECK(cudaMemcpy(to, from, static_cast<size_t>(count) * sizeof(T), kind));
  }

  int64_t n_;
  void* memory_ = nullptr;
  DLTensor dl_{};
};

template <class Op>
class GpuLarge : public GpuTest {
 protected:
  using T = typename Op::Element;

  // Calls the op with n elements and checks all results. With `x_first` = 1 the pointers have
  // different alignments, so the kernel uses its slow path.
  void run(int64_t n, int64_t x_first) {
    const auto needed = static_cast<size_t>(n + 1) * sizeof(T) * (Op::kBinary ? 3 : 2);
    size_t available = 0, total = 0;
    KERNKIT_CUDA_CHECK(cudaMemGetInfo(&available, &total));
    if (needed + (size_t{1} << 28) > available) {
      GTEST_SKIP() << "needs " << needed << " bytes of device memory, " << available << " are free";
    }
    std::vector<T> x_period, y_period, expected_period;
    for (int64_t i = 0; i < kPeriod; ++i) {
      // The values are finite in every dtype, and adjacent values differ.
      x_period.push_back(static_cast<T>(static_cast<float>((i * 7 + i / 251) % 120)));
      y_period.push_back(static_cast<T>(static_cast<float>(i % 113)));
      expected_period.push_back(Op::expected(x_period.back(), y_period.back()));
    }
    Periodic<T> out(n, 0), x(n, x_first);
    std::unique_ptr<Periodic<T>> y;
    x.fill(x_period);
    if (Op::kBinary) {
      y = std::make_unique<Periodic<T>>(n, 0);
      y->fill(y_period);
    }
    out.poison();
    Op::call(out.view("out"), x.view("x"), y ? y->view("y") : x.view("y"));
    EXPECT_EQ(out.first_wrong(expected_period), -1);
    EXPECT_EQ(x.first_wrong(x_period), -1) << "x was written";
  }
};
using LargeOps = ::testing::Types<AddOp<int8_t>, ScaleOp<float16>, ScaleOp<float>>;
TYPED_TEST_SUITE(GpuLarge, LargeOps, OpName);

TYPED_TEST(GpuLarge, MoreThan2To31) { this->run((int64_t{1} << 31) + 4099, 0); }
TYPED_TEST(GpuLarge, MoreThan2To32) { this->run((int64_t{1} << 32) + 4099, 0); }
TYPED_TEST(GpuLarge, MoreThan2To32ElementByElement) { this->run((int64_t{1} << 32) + 4099, 1); }

}  // namespace
}  // namespace kernkit::gpu
