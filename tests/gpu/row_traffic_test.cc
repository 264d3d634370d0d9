// SPDX-License-Identifier: Apache-2.0
// Memory traffic of row kernels and of the template's sample, according to their PTX. Each op's
// formula is for n rows of d elements of s bytes.
#include "fused_add_rms_norm/fused_add_rms_norm.h"
#include "gelu_and_mul/gelu_and_mul.h"
#include "gpu.h"
#include "kernkit/simulator/counters.h"
#include "layer_norm/layer_norm.h"
#include "rms_norm/rms_norm.h"
#include "rms_norm_fp8/rms_norm_fp8.h"
#include "silu_and_mul/silu_and_mul.h"
#include "softmax/softmax.h"

namespace kernkit::gpu {
namespace {

using simulator::over_budget;

/// Rows in contiguous memory. `first` is the offset of the first element from a 16-byte boundary
/// [elements].
template <class T>
class Matrix : public DeviceTensor<T> {
 public:
  Matrix(const Stream& stream, int64_t n, int64_t d, int64_t first)
      : DeviceTensor<T>(0, n * d, first), shape_{n, d} {
    this->place(first, n * d, stream);
    this->dl()->ndim = 2;
    this->dl()->shape = shape_;
  }

 private:
  int64_t shape_[2];
};

template <class T>
class GpuRowTraffic : public GpuTest {
 protected:
  static constexpr uint64_t s = sizeof(T);
  static constexpr bool kIsDouble = sizeof(T) == 8;

  // Calls test() for rows of 1, 2, 16 and 64 KiB, except rows of fewer than `shortest` bytes. The
  // rows of a call have 256 KiB in total.
  template <class Test>
  void sweep(const Test& test, int64_t shortest = 0) {
    for (const int64_t bytes : {1 << 10, 1 << 11, 1 << 14, 1 << 16}) {
      if (bytes < shortest) continue;
      SCOPED_TRACE(::testing::Message() << "rows of " << bytes << " bytes");
      n = static_cast<uint64_t>((1 << 18) / bytes);
      d = static_cast<uint64_t>(bytes) / s;
      test();
    }
  }
  template <class Element = T>
  Matrix<Element> matrix(uint64_t rows, uint64_t columns, int64_t first = 0) {
    return {stream_, static_cast<int64_t>(rows), static_cast<int64_t>(columns), first};
  }

  uint64_t n = 0, d = 0;

 private:
  Stream stream_;
  StreamGuard guard_{stream_.device(), stream_.get()};
};
using Types = ::testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(GpuRowTraffic, Types, );

// [traffic]
TYPED_TEST(GpuRowTraffic, Softmax) {
  this->sweep([this, &n = this->n, &d = this->d, s = this->s] {
    auto y = this->matrix(n, d), x = this->matrix(n, d);
    const auto call = [&] { kernels::softmax_cuda(y.view("y"), x.view("x")); };
    EXPECT_EQ(over_budget({n * d * s, n * d * s}, call), "");
  });
}
// [/traffic]

// The limit of the loads includes the weight, one row, which the kernel loads for each row of x.
TYPED_TEST(GpuRowTraffic, RmsNorm) {
  this->sweep([this, &n = this->n, &d = this->d, s = this->s] {
    auto y = this->matrix(n, d), x = this->matrix(n, d), w = this->matrix(1, d);
    const auto call = [&] { kernels::rms_norm_cuda(y.view("y"), x.view("x"), w.view("w"), 1e-6); };
    EXPECT_EQ(over_budget({2 * n * d * s, n * d * s, 16, 16, (n + 1) * d * s}, call), "");
    const auto without = [&] {
      kernels::rms_norm_cuda(y.view("y"), x.view("x"), std::nullopt, 1e-6);
    };
    EXPECT_EQ(over_budget({n * d * s, n * d * s}, without), "");
  });
}

TYPED_TEST(GpuRowTraffic, FusedAddRmsNorm) {
  this->sweep([this, &n = this->n, &d = this->d, s = this->s] {
    auto y = this->matrix(n, d), sum = this->matrix(n, d), x = this->matrix(n, d);
    auto residual = this->matrix(n, d), w = this->matrix(1, d);
    const auto call = [&] {
      kernels::fused_add_rms_norm_cuda(y.view("y"), sum.view("sum"), x.view("x"),
                                       residual.view("residual"), w.view("w"), 1e-6);
    };
    EXPECT_EQ(over_budget({3 * n * d * s, 2 * n * d * s, 16, 16, (2 * n + 1) * d * s}, call), "");
  });
}

TYPED_TEST(GpuRowTraffic, LayerNorm) {
  this->sweep([this, &n = this->n, &d = this->d, s = this->s] {
    auto y = this->matrix(n, d), x = this->matrix(n, d);
    auto w = this->matrix(1, d), b = this->matrix(1, d);
    const auto call = [&] {
      kernels::layer_norm_cuda(y.view("y"), x.view("x"), w.view("w"), b.view("b"), 1e-6);
    };
    EXPECT_EQ(over_budget({3 * n * d * s, n * d * s, 16, 16, (n + 2) * d * s}, call), "");
  });
}

TYPED_TEST(GpuRowTraffic, GeluAndMul) {
  if constexpr (!this->kIsDouble) {
    this->sweep([this, &n = this->n, &d = this->d, s = this->s] {
      auto y = this->matrix(n, d), x = this->matrix(n, 2 * d);
      const auto call = [&] { kernels::gelu_and_mul_cuda(y.view("y"), x.view("x")); };
      EXPECT_EQ(over_budget({2 * n * d * s, n * d * s}, call), "");
    });
  }
}

// The kernel converts a pack of 16 bytes of x, with elements of s bytes, to 16 / s bytes of fp8.
// The kernel also stores a scale of 4 bytes for each row, so this test uses only rows of at least
// 16 KiB.
TYPED_TEST(GpuRowTraffic, RmsNormFp8) {
  if constexpr (!this->kIsDouble) {
    this->sweep(
        [this, &n = this->n, &d = this->d, s = this->s] {
          auto y = this->template matrix<float8_e4m3fn>(n, d);
          auto scale = this->template matrix<float>(1, n);
          auto x = this->matrix(n, d), w = this->matrix(1, d);
          const auto call = [&] {
            kernels::rms_norm_fp8_cuda(y.view("y"), scale.view("scale"), x.view("x"), w.view("w"),
                                       1e-6);
          };
          const int packed = 16 / static_cast<int>(s);
          EXPECT_EQ(over_budget({2 * n * d * s, n * d + 4 * n, 16, packed, (n + 1) * d * s}, call),
                    "");
        },
        1 << 14);
  }
}

// Tests the template's sample, which loads and stores single elements if the rows are unaligned.
TYPED_TEST(GpuRowTraffic, SiluAndMul) {
  this->sweep([this, &n = this->n, &d = this->d, s = this->s] {
    auto y = this->matrix(n, d), x = this->matrix(n, 2 * d);
    const auto call = [&] { template_library::silu_and_mul_cuda(y.view("y"), x.view("x")); };
    EXPECT_EQ(over_budget({2 * n * d * s, n * d * s}, call), "");
    auto out = this->matrix(n, d, 1), in = this->matrix(n, 2 * d, 1);
    const auto not_aligned = [&] {
      template_library::silu_and_mul_cuda(out.view("y"), in.view("x"));
    };
    const int element = sizeof(TypeParam);
    EXPECT_EQ(over_budget({2 * n * d * s, n * d * s, element, element}, not_aligned), "");
  });
}

// The kernel loads and stores each byte of unaligned rows once. A thread handles the same elements
// at any alignment, so that the results have the same bits. Adjacent lanes that load single
// elements are therefore 16 bytes apart, and each pair of lanes moves a sector. The test is skipped
// if this number of sectors exceeds the limit.
TYPED_TEST(GpuRowTraffic, RowsThatAreNotAligned) {
  std::string over;
  this->sweep([this, &n = this->n, &d = this->d, s = this->s, &over] {
    auto y = this->matrix(n, d, 1), x = this->matrix(n, d, 1);
    const simulator::Counting counting;
    kernels::softmax_cuda(y.view("y"), x.view("x"));
    const simulator::KernelCounters kernel = counting.kernel();
    for (const auto& traffic : {kernel.counters.loads, kernel.counters.stores}) {
      EXPECT_EQ(traffic.bytes, n * d * s);
      EXPECT_LE(traffic.unique_sectors, n * d * s / 32 + 1);
    }
    over = over_budget(kernel, {n * d * s, n * d * s, 1, 1});
  });
  if (!over.empty()) GTEST_SKIP() << "unaligned rows move more sectors than the limit: " << over;
}

}  // namespace
}  // namespace kernkit::gpu
