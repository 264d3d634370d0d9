// SPDX-License-Identifier: Apache-2.0
// Row kernels on the CPU, and their CUDA implementations run in the simulator, compiled for fibers
// or as PTX. The reference is the formula in long double. The last tests make calls that must be
// rejected.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "fused_add_rms_norm/fused_add_rms_norm.h"
#include "gelu_and_mul/gelu_and_mul.h"
#include "kernkit/cpu/machine.h"
#include "kernkit/cuda/check.h"
#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/contract.h"
#include "kernkit/testing/line.h"
#include "kernkit/testing/reference.h"
#include "kernkit/testing/tensor.h"
#include "layer_norm/layer_norm.h"
#include "rms_norm/rms_norm.h"
#include "rms_norm_fp8/rms_norm_fp8.h"
#include "softmax/softmax.h"

namespace kernkit::kernels {
namespace {

using testing::error_of;
using Row = std::vector<long double>;

constexpr int64_t kRows = 3;
// Memory that is accessible to kernels compiled for the CPU and to kernels that run from their PTX.
constexpr testing::TestMemory kManaged{
    [](size_t bytes) {
      void* memory = nullptr;
      KERNKIT_CUDA_CHECK(cudaMallocManaged(&memory, bytes));
      return memory;
    },
    [](void* memory) { (void)cuda::succeeded(cudaFree(memory)); }};

// A matrix with `gap` unused elements between its rows, on the device under test.
template <class T>
struct Tensor : testing::HostTensor<T> {
  Tensor(DLDevice device, int64_t n, int64_t d, int64_t gap, unsigned seed)
      : testing::HostTensor<T>({n, d + gap}, {1, 0, false}, T(),
                               device.device_type == kDLCPU ? testing::kHostMemory : kManaged),
        d(d) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 2);
    for (T& value : *this) value = T(static_cast<compute_t<T>>(normal(random)));
    this->dl()->shape[1] = d;
    this->dl()->device = device;
  }
  Row row(int64_t r) {
    Row values;
    for (int64_t i = 0; i < d; ++i) {
      const T& element = (*this)[r * this->dl()->strides[0] + i];
      values.push_back(static_cast<long double>(static_cast<compute_t<T>>(element)));
    }
    return values;
  }
  // Changes the tensor's shape from [1, d] to [d], and returns a view of the tensor.
  TensorView vector(const char* name) {
    this->dl()->ndim = 1;
    this->dl()->shape[0] = d;
    this->dl()->strides[0] = 1;
    return this->view(name);
  }
  int64_t d;
};

// The limit for the error of several roundings in the type of the arithmetic, for values of
// magnitude 1.
template <class T>
constexpr long double kRoundings = 16.0L /
                                   (int64_t{1} << testing::significand_digits<compute_t<T>>());

Row rms_norm_of(const Row& x, const Row& weight, long double eps) {
  long double squares = 0;
  for (const long double v : x) squares += v * v;
  const long double k = 1 / std::sqrt(squares / static_cast<long double>(x.size()) + eps);
  Row y;
  for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * k * (weight.empty() ? 1 : weight[i]));
  return y;
}

template <class T>
class RowKernels : public ::testing::Test {
 protected:
  RowKernels() { runtime_.run_kernels(true); }
  ~RowKernels() override { EXPECT_TRUE(runtime_.faults().empty()); }

  // Calls test(device, d, gap) for each combination.
  void sweep(const std::function<void(DLDevice, int64_t, int64_t)>& test) {
    for (const DLDevice device : {DLDevice{kDLCPU, 0}, DLDevice{kDLCUDA, 0}}) {
      for (const int64_t d : {1, 7, 64, 131, 600}) {
        for (const int64_t gap : {0, 5}) {
          SCOPED_TRACE(::testing::Message()
                       << device_name(device).c_str() << ", d = " << d << ", gap = " << gap);
          test(device, d, gap);
          ASSERT_FALSE(HasFailure());
        }
      }
    }
  }
  // Compares row r of y with exact results. `from` is the magnitude of terms that may cancel, whose
  // rounding errors remain in the result.
  static void expect_row(Tensor<T>& y, int64_t r, const Row& exact, long double from = 0) {
    const Row got = y.row(r);
    // `half`: largest relative error of the last rounding. `least`: distance between adjacent
    // subnormal numbers of float16.
    const long double half = std::ldexp(1.0L, -testing::significand_digits<T>());
    const long double least = sizeof(T) == 2 ? 0x1p-24L : 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      const long double size = std::fabs(exact[i]);
      ASSERT_LE(std::fabs(got[i] - exact[i]), half * size + kRoundings<T> * (size + from) + least)
          << "row " << r << ", column " << i;
    }
  }
  simulator::CudaRuntime runtime_;
};
using Types = ::testing::Types<float16, bfloat16, float, double>;
TYPED_TEST_SUITE(RowKernels, Types, );

TYPED_TEST(RowKernels, RmsNorm) {
  this->sweep([&](DLDevice device, int64_t d, int64_t gap) {
    Tensor<TypeParam> x(device, kRows, d, gap, 1), y(device, kRows, d, 0, 2);
    Tensor<TypeParam> weight(device, 1, d, 0, 3);
    const TensorView of_columns = weight.vector("weight");
    for (const bool weighed : {true, false}) {
      rms_norm(y.view("y"), x.view("x"), weighed ? Optional<TensorView>(of_columns) : std::nullopt,
               1e-6);
      for (int64_t r = 0; r < kRows; ++r) {
        this->expect_row(y, r, rms_norm_of(x.row(r), weighed ? weight.row(0) : Row(), 1e-6L));
      }
    }
    EXPECT_TRUE(y.intact());
  });
}

// The sum is rounded once, and the norm is computed from the rounded sum. Calls in place give the
// same results.
TYPED_TEST(RowKernels, FusedAddRmsNorm) {
  this->sweep([&](DLDevice device, int64_t d, int64_t gap) {
    Tensor<TypeParam> x(device, kRows, d, gap, 1), old(device, kRows, d, 2 * gap, 2);
    Tensor<TypeParam> y(device, kRows, d, 0, 3), sum(device, kRows, d, 0, 4);
    Tensor<TypeParam> weight(device, 1, d, 0, 5);
    const TensorView of_columns = weight.vector("weight");
    for (const bool weighed : {true, false}) {
      const Optional<TensorView> optional_weight =
          weighed ? Optional<TensorView>(of_columns) : std::nullopt;
      fused_add_rms_norm(y.view("y"), sum.view("sum"), x.view("x"), old.view("residual"),
                         optional_weight, 1e-6);
      for (int64_t r = 0; r < kRows; ++r) {
        Row exact = x.row(r);
        for (size_t i = 0; i < exact.size(); ++i) exact[i] += old.row(r)[i];
        this->expect_row(sum, r, exact);
        this->expect_row(y, r, rms_norm_of(sum.row(r), weighed ? weight.row(0) : Row(), 1e-6L));
      }
      EXPECT_TRUE(y.intact() && sum.intact());
      if (gap != 0) continue;
      Tensor<TypeParam> here(device, kRows, d, 0, 1), stream(device, kRows, d, 0, 2);
      fused_add_rms_norm(here.view("y"), stream.view("sum"), here.view("x"),
                         stream.view("residual"), optional_weight, 1e-6);
      for (int64_t r = 0; r < kRows; ++r) {
        EXPECT_EQ(here.row(r), y.row(r)) << "in place, row " << r;
        EXPECT_EQ(stream.row(r), sum.row(r)) << "in place, row " << r;
      }
    }
  });
}

TYPED_TEST(RowKernels, LayerNorm) {
  this->sweep([&](DLDevice device, int64_t d, int64_t gap) {
    Tensor<TypeParam> x(device, kRows, d, gap, 1), y(device, kRows, d, 0, 2);
    Tensor<TypeParam> weight(device, 1, d, 0, 3), bias(device, 1, d, 0, 4);
    const TensorView w = weight.vector("weight"), b = bias.vector("bias");
    for (const int optional_weight : {0, 1, 2}) {
      layer_norm(y.view("y"), x.view("x"),
                 optional_weight > 0 ? Optional<TensorView>(w) : std::nullopt,
                 optional_weight > 1 ? Optional<TensorView>(b) : std::nullopt, 1e-5);
      for (int64_t r = 0; r < kRows; ++r) {
        Row exact = x.row(r);
        const auto n = static_cast<long double>(d);
        long double mean = 0, squares = 0, largest = 0;
        for (const long double v : exact) mean += v / n;
        for (const long double v : exact) squares += (v - mean) * (v - mean);
        const long double k = 1 / std::sqrt(squares / n + 1e-5L);
        for (size_t i = 0; i < exact.size(); ++i) {
          largest = std::max({largest, std::fabs(weight.row(0)[i]), std::fabs(bias.row(0)[i])});
          exact[i] = (exact[i] - mean) * k * (optional_weight > 0 ? weight.row(0)[i] : 1) +
                     (optional_weight > 1 ? bias.row(0)[i] : 0);
        }
        this->expect_row(y, r, exact, 3 * largest);
      }
    }
    EXPECT_TRUE(y.intact());
  });
}

// The differences from the mean are accurate even if the mean is much larger than the differences.
TYPED_TEST(RowKernels, LayerNormOfALargeMean) {
  for (const DLDevice device : {DLDevice{kDLCPU, 0}, DLDevice{kDLCUDA, 0}}) {
    Tensor<TypeParam> x(device, 1, 256, 0, 1), y(device, 1, 256, 0, 2);
    for (int64_t i = 0; i < 256; ++i) x[i] = TypeParam(i % 2 == 0 ? 128.0f : 129.0f);
    layer_norm(y.view("y"), x.view("x"), std::nullopt, std::nullopt, 0);
    this->expect_row(y, 0, [] {
      Row exact;
      for (int i = 0; i < 256; ++i) exact.push_back(i % 2 == 0 ? -1 : 1);
      return exact;
    }());
  }
}

TYPED_TEST(RowKernels, Softmax) {
  this->sweep([&](DLDevice device, int64_t d, int64_t gap) {
    Tensor<TypeParam> x(device, kRows, d, gap, 1), y(device, kRows, d, 0, 2);
    softmax(y.view("y"), x.view("x"));
    for (int64_t r = 0; r < kRows; ++r) {
      Row exact = x.row(r);
      const long double largest = *std::max_element(exact.begin(), exact.end());
      long double sum = 0;
      for (long double& v : exact) sum += v = std::exp(v - largest);
      for (long double& v : exact) v /= sum;
      this->expect_row(y, r, exact);
    }
    EXPECT_TRUE(y.intact());
  });
}

TYPED_TEST(RowKernels, SoftmaxOfSpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  for (const DLDevice device : {DLDevice{kDLCPU, 0}, DLDevice{kDLCUDA, 0}}) {
    const struct {
      float x[3], y[3];
    } cases[] = {{{0, -kInf, 0}, {0.5f, 0, 0.5f}},
                 {{1, kInf, 2}, {nan, nan, nan}},
                 {{-kInf, -kInf, -kInf}, {nan, nan, nan}},
                 {{1, nan, 2}, {nan, nan, nan}},
                 {{6e4f, 6e4f, -6e4f}, {0.5f, 0.5f, 0}}};
    for (const auto& c : cases) {
      Tensor<TypeParam> x(device, 1, 3, 0, 1), y(device, 1, 3, 0, 2);
      std::transform(c.x, c.x + 3, x.begin(), [](float v) { return TypeParam(v); });
      softmax(y.view("y"), x.view("x"));
      for (size_t i = 0; i < 3; ++i) {
        const auto got = static_cast<float>(y.row(0)[i]);
        EXPECT_TRUE(got == c.y[i] || (std::isnan(got) && std::isnan(c.y[i])))
            << c.x[0] << " " << c.x[1] << " " << c.x[2] << ": column " << i << " is " << got;
      }
    }
  }
}

TYPED_TEST(RowKernels, GeluAndMul) {
  if constexpr (!std::is_same_v<TypeParam, double>) {
    this->sweep([&](DLDevice device, int64_t d, int64_t gap) {
      Tensor<TypeParam> x(device, kRows, 2 * d, gap, 1), y(device, kRows, d, 0, 2);
      gelu_and_mul(y.view("y"), x.view("x"));
      for (int64_t r = 0; r < kRows; ++r) {
        const Row in = x.row(r);
        Row exact;
        long double largest = 0;
        for (size_t i = 0; i < static_cast<size_t>(d); ++i) {
          const long double up = in[i + static_cast<size_t>(d)];
          exact.push_back(in[i] / 2 * (1 + std::erf(in[i] / std::sqrt(2.0L))) * up);
          largest = std::max(largest, std::fabs(in[i] * up));
        }
        this->expect_row(y, r, exact, largest);
      }
      EXPECT_TRUE(y.intact());
    });
  }
}

TYPED_TEST(RowKernels, RmsNormFp8) {
  if constexpr (!std::is_same_v<TypeParam, double>) {
    this->sweep([&](DLDevice device, int64_t d, int64_t gap) {
      Tensor<TypeParam> x(device, kRows, d, gap, 1), weight(device, 1, d, 0, 3);
      Tensor<float8_e4m3fn> y(device, kRows, d, 0, 4);
      Tensor<float> scale(device, 1, kRows, 0, 5);
      for (int64_t i = 0; i < d; ++i) x[(d + gap) + i] = TypeParam(0.0f);  // a row of zeros
      rms_norm_fp8(y.view("y"), scale.vector("scale"), x.view("x"), weight.vector("weight"), 1e-6);
      for (int64_t r = 0; r < kRows; ++r) {
        const Row exact = rms_norm_of(x.row(r), weight.row(0), 1e-6L), got = y.row(r);
        long double largest = 0;
        for (const long double v : exact) largest = std::max(largest, std::fabs(v));
        const long double used = scale.row(0)[static_cast<size_t>(r)];
        const long double expected_scale = std::max(largest / 448, 1 / (448 * 512.0L));
        EXPECT_NEAR(static_cast<double>(used / expected_scale), 1, 1e-5);
        // e4m3fn has 4 significant bits, and a step of 2^-9 between subnormal numbers.
        for (size_t i = 0; i < exact.size(); ++i) {
          ASSERT_LE(std::fabs(got[i] * used - exact[i]),
                    std::max(std::fabs(exact[i]) * 0x1.0001p-4L, 0x1.0001p-10L * used))
              << "row " << r << ", column " << i;
        }
      }
      EXPECT_TRUE(y.intact() && scale.intact());
    });
  }
}

TYPED_TEST(RowKernels, BitsAreThoseOfEveryInstructionSet) {
  using T = TypeParam;
  constexpr DLDevice kCpu{kDLCPU, 0};
  for (const int64_t d : {7, 64, 131, 600}) {
    Tensor<T> x(kCpu, kRows, d, 0, 1), residual(kCpu, kRows, d, 0, 2),
        gates(kCpu, kRows, 2 * d, 0, 3);
    Tensor<T> weight(kCpu, 1, d, 0, 4), bias(kCpu, 1, d, 0, 5);
    const TensorView w = weight.vector("weight"), b = bias.vector("bias");
    const auto results = [&] {
      std::string bytes;
      const auto keep = [&bytes](auto& tensor) {
        bytes.append(reinterpret_cast<const char*>(tensor.begin()),
                     static_cast<size_t>(tensor.end() - tensor.begin()) * sizeof(*tensor.begin()));
      };
      Tensor<T> y(kCpu, kRows, d, 0, 6), sum(kCpu, kRows, d, 0, 7);
      rms_norm(y.view("y"), x.view("x"), w, 1e-6);
      keep(y);
      fused_add_rms_norm(y.view("y"), sum.view("sum"), x.view("x"), residual.view("residual"), w,
                         1e-6);
      keep(y);
      keep(sum);
      layer_norm(y.view("y"), x.view("x"), w, b, 1e-5);
      keep(y);
      softmax(y.view("y"), x.view("x"));
      keep(y);
      if constexpr (!std::is_same_v<T, double>) {
        gelu_and_mul(y.view("y"), gates.view("x"));
        keep(y);
        Tensor<float8_e4m3fn> small(kCpu, kRows, d, 0, 8);
        Tensor<float> scale(kCpu, 1, kRows, 0, 9);
        rms_norm_fp8(small.view("y"), scale.vector("scale"), x.view("x"), w, 1e-6);
        keep(small);
        keep(scale);
      }
      return bytes;
    };
    cpu::InstructionSet& set = cpu::detail::chosen_machine().instruction_set;
    const cpu::InstructionSet best = set;
    const std::string expected = results();
    for (const auto tested : {cpu::InstructionSet::kBaseline, cpu::InstructionSet::kAvx2}) {
      if (tested > best) continue;
      set = tested;
      const std::string got = results();
      set = best;
      const auto at = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
      ASSERT_TRUE(got == expected)
          << "d = " << d << ", set " << static_cast<int>(tested) << ", byte " << at;
    }
  }
}

// Valid tensors, one of which a test makes invalid.
class RowKernelsReject : public ::testing::Test {
 protected:
  static constexpr DLDevice kCpu{kDLCPU, 0};
  std::string norm() {
    return error_of([&] { rms_norm(y.view("y"), x.view("x"), weight.vector("weight"), 1e-6); });
  }
  std::string fused() {
    return error_of([&] {
      fused_add_rms_norm(y.view("y"), sum.view("sum"), x.view("x"), old.view("residual"),
                         std::nullopt, 1e-6);
    });
  }
  std::string fp8() {
    return error_of([&] {
      rms_norm_fp8(small.view("y"), scale.vector("scale"), x.view("x"), weight.vector("weight"),
                   1e-6);
    });
  }
  Tensor<float> x{kCpu, 2, 6, 0, 1}, y{kCpu, 2, 6, 0, 2}, weight{kCpu, 1, 6, 0, 3};
  Tensor<float> old{kCpu, 2, 6, 0, 4}, sum{kCpu, 2, 6, 0, 5}, scale{kCpu, 1, 2, 0, 6};
  Tensor<float> half{kCpu, 2, 3, 0, 7};
  Tensor<float8_e4m3fn> small{kCpu, 2, 6, 0, 8};
};

// [gaps]
TEST(Softmax, ReadsItsColumnsAlone) {
  testing::HostTensor<float> x({2, 5}, {}, std::nanf("")), y({2, 3});
  for (const int64_t i : {0, 1, 2, 5, 6, 7}) x[i] = 1;
  x.dl()->shape[1] = 3;  // the strides remain [5, 1]
  softmax(y.view("y"), x.view("x"));
  for (const float value : y) EXPECT_FLOAT_EQ(value, 1 / 3.0F);
}
// [/gaps]

TEST_F(RowKernelsReject, NothingThatFits) {
  EXPECT_EQ(norm(), "nothing");
  EXPECT_EQ(fused(), "nothing");
  EXPECT_EQ(fp8(), "nothing");
}

TEST_F(RowKernelsReject, DtypesAndColumns) {
  x.dl()->strides[1] = 2;
  EXPECT_EQ(
      norm(),
      "ValueError: x: the last dimension must be contiguous; shape [2, 6] has strides [6, 2]");
  x.dl()->dtype = dl_int32;
  EXPECT_EQ(norm(),
            "TypeError: x: dtype int32 is not supported; expected float16, bfloat16, float32 or "
            "float64");
  x.dl()->dtype = dl_float64;
  EXPECT_EQ(fp8(),
            "TypeError: x: dtype float64 is not supported; expected float16, bfloat16 or float32");
}

TEST_F(RowKernelsReject, Weight) {
  weight.d = 5;
  EXPECT_EQ(norm(), "ValueError: weight: shape [5] does not match [d] with d = 6 (bound by x)");
  EXPECT_EQ(error_of([&] {
              layer_norm(y.view("y"), x.view("x"), std::nullopt, weight.vector("bias"), 1e-5);
            }),
            "ValueError: bias: requires a weight; pass a weight of ones");
  weight.d = 6;
  weight.dl()->data = y.begin();
  EXPECT_EQ(norm().find("ValueError: y: overlaps weight in memory ("), 0u) << norm();
}

TEST_F(RowKernelsReject, Outputs) {
  small.dl()->dtype = dl_float32;
  EXPECT_EQ(fp8(), "TypeError: y: dtype float32 is not supported; expected float8_e4m3fn");
  y.dl()->dtype = dl_float16;
  EXPECT_EQ(norm(), "TypeError: y: dtype float16 does not match x (float32)");
  y.dl()->dtype = dl_float32;
  y.dl()->data = sum.begin();
  EXPECT_EQ(fused().find("ValueError: y: overlaps sum in memory ("), 0u) << fused();
  y.dl()->data = &x[1];
  EXPECT_EQ(norm().find("ValueError: y: partially overlaps x in memory ("), 0u) << norm();
  EXPECT_EQ(error_of([&] {
              softmax(y.view("y"), x.view("x"));
            }).find("ValueError: y: partially overlaps x in memory ("),
            0u);
  EXPECT_EQ(error_of([&] { gelu_and_mul(sum.view("y"), x.view("x")); }),
            "ValueError: x: shape [2, 6] does not match [n, 2 * d] with n = 2 (bound by y), d = 6 "
            "(bound by y)");
}

}  // namespace
}  // namespace kernkit::kernels

KERNKIT_TEST_CONTRACT(rms_norm, example<float>(4, 37), example<float>(4, 37), example<float>(37),
                      1e-6, by_row())
KERNKIT_TEST_CONTRACT(rms_norm, example<kernkit::bfloat16>(4, 37),
                      example<kernkit::bfloat16>(4, 37), nullptr, by_row())
KERNKIT_TEST_CONTRACT(rms_norm_fp8, example<kernkit::float8_e4m3fn>(4, 37), example<float>(4),
                      example<float>(4, 37), example<float>(37), by_row())
KERNKIT_TEST_CONTRACT(fused_add_rms_norm, example<float>(4, 37), example<float>(4, 37),
                      example<float>(4, 37), example<float>(4, 37), example<float>(37), by_row())
KERNKIT_TEST_CONTRACT(layer_norm, example<float>(4, 37), example<float>(4, 37), example<float>(37),
                      example<float>(37), by_row())
KERNKIT_TEST_CONTRACT(softmax, example<float>(4, 37), example<float>(4, 37), by_row())
KERNKIT_TEST_CONTRACT(gelu_and_mul, example<float>(4, 37), example<float>(4, 74), by_row())

KERNKIT_TEST_LINE(rms_norm, example<float>(4, 37), example<float>(4, 37), example<float>(37), 1e-6)
KERNKIT_TEST_LINE(rms_norm_fp8, example<kernkit::float8_e4m3fn>(4, 37), example<float>(4),
                  example<float>(4, 37), example<float>(37))
KERNKIT_TEST_LINE(fused_add_rms_norm, example<float>(4, 37), example<float>(4, 37),
                  example<float>(4, 37), example<float>(4, 37), example<float>(37))
KERNKIT_TEST_LINE(layer_norm, example<float>(4, 37), example<float>(4, 37), example<float>(37),
                  example<float>(37))
KERNKIT_TEST_LINE(softmax, example<float>(4, 37), example<float>(4, 37))
KERNKIT_TEST_LINE(gelu_and_mul, example<float>(4, 37), example<float>(4, 74))
