// SPDX-License-Identifier: Apache-2.0
// Errors in units in the last place, compared with the C library's double (and long double)
// functions. Tests every KERNKIT_MATH_STEP-th float: 1 for all, default 4093.
#include "kernkit/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernkit/cpu/elementwise.h"
#include "kernkit/testing/reference.h"

namespace kernkit::math {
namespace {

using testing::copy_bits;

constexpr int kChunk = 1024;
constexpr double kInf = std::numeric_limits<double>::infinity();

uint64_t step() {
  const char* text = std::getenv("KERNKIT_MATH_STEP");
  return text == nullptr ? 4093 : std::strtoull(text, nullptr, 10);
}

// Returns the unit in the last place of a float, or of the float below a value between floats.
double ulp_of(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
}

// Returns an error in units in the last place of `scale`. The error is infinite if exactly one
// value is NaN, or if `exact` is an infinity and `result` differs from it. A `result` of infinity
// is treated as the float that would follow the largest float.
double error_of(float result, double exact, double scale) {
  if (std::isnan(exact) || std::isnan(result)) {
    return std::isnan(exact) && std::isnan(result) ? 0 : kInf;
  }
  if (std::isinf(exact)) return result == exact ? 0 : kInf;
  const double number = std::isinf(result) ? std::copysign(0x1p128, result) : result;
  if (std::isinf(result) && std::fabs(exact) > 0x1p128) return 0;
  return std::fabs(number - exact) / ulp_of(scale);
}

struct Worst {
  double error = 0;
  float at = 0;
  void update(double new_error, float x) {
    if (!(new_error <= error)) *this = {new_error, x};
  }
};

std::vector<float> random_floats(size_t count) {
  std::mt19937 random(1);
  std::vector<float> values(count);
  for (float& value : values) value = copy_bits<float>(static_cast<uint32_t>(random()));
  return values;
}

template <class Op>
float Function(float x) {
  return Op{}(x);
}

// Returns the largest error for every step-th float, computed by one thread per processor.
template <class Op>
Worst worst_of(const Op& op, bool of_x) {
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Worst> worst_of_threads(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> x(kChunk), y(kChunk);
      const uint64_t by = step();
      for (uint64_t first = t * kChunk * by; first < uint64_t{1} << 32;
           first += count * kChunk * by) {
        for (int i = 0; i < kChunk; ++i) {
          x[i] = copy_bits<float>(static_cast<uint32_t>(first + static_cast<uint64_t>(i) * by));
        }
        cpu::elementwise(kChunk, op, y.data(), static_cast<const float*>(x.data()));
        for (int i = 0; i < kChunk; ++i) {
          const double exact_value = Op::exact(static_cast<double>(x[i]));
          worst_of_threads[t].update(error_of(y[i], exact_value, of_x ? x[i] : exact_value), x[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Worst worst;
  for (const Worst& w : worst_of_threads) worst.update(w.error, w.at);
  return worst;
}

// Each of the following structs calls a function of math.h and the function's reference in double.
// kWithin is the error limit in the header's comments [ulp of the input or of the result].
struct Exp {
  static constexpr double kWithin = 1.005;
  float operator()(float x) const { return exp(x); }
  static double exact(double x) { return std::exp(x); }
};
struct ExpOfNegative {
  static constexpr double kWithin = 1.005;
  float operator()(float x) const { return exp_of_negative(-std::fabs(x)); }
  static double exact(double x) { return std::exp(-std::fabs(x)); }
};
struct Log {
  static constexpr double kWithin = 0.8131;
  float operator()(float x) const { return log(x); }
  static double exact(double x) { return std::log(x); }
};
struct Tanh {
  static constexpr double kWithin = 1.34;
  float operator()(float x) const { return tanh(x); }
  static double exact(double x) { return std::tanh(x); }
};
struct Erf {
  static constexpr double kWithin = 1.24;
  float operator()(float x) const { return erf(x); }
  static double exact(double x) { return std::erf(x); }
};
struct Sigmoid {
  static constexpr double kWithin = 2.41;
  float operator()(float x) const { return sigmoid(x); }
  static double exact(double x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
  }
};
struct Silu {
  static constexpr double kWithin = 3.4;
  float operator()(float x) const { return silu(x); }
  static double exact(double x) { return x * Sigmoid::exact(x); }
};
struct Gelu {
  static constexpr double kWithin = 1.97;
  static constexpr bool kOfInput = true;
  float operator()(float x) const { return gelu(x); }
  static double exact(double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }
};
struct GeluTanh {
  static constexpr double kWithin = 1.76;
  static constexpr bool kOfInput = true;
  float operator()(float x) const { return gelu_tanh(x); }
  static double exact(double x) {
    return x * Sigmoid::exact(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  }
};
struct Rsqrt {
  static constexpr double kWithin = 1.5;
  float operator()(float x) const { return rsqrt(x); }
  static double exact(double x) { return 1 / std::sqrt(x); }
};

template <class Op, class = void>
inline constexpr bool kOfInput = false;
template <class Op>
inline constexpr bool kOfInput<Op, std::void_t<decltype(Op::kOfInput)>> = Op::kOfInput;

template <class Op>
class Math : public ::testing::Test {};
using Ops =
    ::testing::Types<Exp, ExpOfNegative, Log, Tanh, Erf, Sigmoid, Silu, Gelu, GeluTanh, Rsqrt>;
TYPED_TEST_SUITE(Math, Ops, );

// The largest error is at most the documented limit, and close to the limit.
TYPED_TEST(Math, ErrorsReachTheDocumentedLimit) {
  const Worst worst = worst_of(TypeParam{}, kOfInput<TypeParam>);
  std::printf("worst: %.4f ulp at %.9g\n", worst.error, static_cast<double>(worst.at));
  EXPECT_LE(worst.error, TypeParam::kWithin) << "at " << worst.at;
  EXPECT_GE(worst.error, (step() == 1 ? 0.97 : 0.6) * TypeParam::kWithin);
}

TYPED_TEST(Math, SameBitsWithEveryInstructionSet) {
  const std::vector<float> x = random_floats(5000);
  std::vector<float> one_by_one(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    one_by_one[i] = TypeParam{}(x[i]);
    asm volatile("" ::: "memory");
  }
  for (const auto set :
       {cpu::InstructionSet::kBaseline, cpu::InstructionSet::kAvx2, cpu::InstructionSet::kAvx512}) {
    if (set > cpu::detail::find_machine().instruction_set) continue;
    cpu::detail::chosen_machine().instruction_set = set;
    std::vector<float> y(x.size());
    cpu::elementwise(static_cast<int64_t>(x.size()), TypeParam{}, y.data(), x.data());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(copy_bits<uint32_t>(y[i]), copy_bits<uint32_t>(one_by_one[i])) << "at " << x[i];
    }
  }
  cpu::detail::chosen_machine() = cpu::detail::find_machine();
}

// The results equal the results of torch 2.15 on the CPU, except that torch's gelu drops the sign
// of a zero.
TEST(MathValues, SpecialValuesAreThoseOfPyTorch) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const float least = std::numeric_limits<float>::denorm_min();
  const float in[] = {inf, -inf, 0.0f, -0.0f, nan, -nan, 1e30f, -1e30f, least, -least};
  const struct {
    const char* name;
    float (*function)(float);
    float out[10];
  } rows[] = {
      {"exp", Function<Exp>, {inf, 0.0f, 1, 1, nan, nan, inf, 0.0f, 1, 1}},
      {"exp_of_negative", Function<ExpOfNegative>, {0.0f, 0.0f, 1, 1, nan, nan, 0.0f, 0.0f, 1, 1}},
      {"log",
       Function<Log>,
       {inf, nan, -inf, -inf, nan, nan, 69.0775527954f, nan, -103.278930664f, nan}},
      {"tanh", Function<Tanh>, {1, -1, 0.0f, -0.0f, nan, nan, 1, -1, least, -least}},
      {"erf", Function<Erf>, {1, -1, 0.0f, -0.0f, nan, nan, 1, -1, least, -least}},
      {"sigmoid", Function<Sigmoid>, {1, 0.0f, 0.5f, 0.5f, nan, nan, 1, 0.0f, 0.5f, 0.5f}},
      {"silu", Function<Silu>, {inf, nan, 0.0f, -0.0f, nan, nan, 1e30f, -0.0f, 0.0f, -0.0f}},
      {"gelu", Function<Gelu>, {inf, nan, 0.0f, -0.0f, nan, nan, 1e30f, -0.0f, 0.0f, -0.0f}},
      {"gelu_tanh",
       Function<GeluTanh>,
       {inf, nan, 0.0f, -0.0f, nan, nan, 1e30f, -0.0f, 0.0f, -0.0f}},
      {"rsqrt",
       Function<Rsqrt>,
       {0.0f, nan, inf, -inf, nan, nan, 1e-15f, nan, 0x1.6a09e6p74f, nan}},
  };
  for (const auto& row : rows) {
    for (int i = 0; i < 10; ++i) {
      const float got = row.function(in[i]), expected = row.out[i];
      const bool both_nan = std::isnan(got) && std::isnan(expected);
      EXPECT_TRUE(both_nan || copy_bits<uint32_t>(got) == copy_bits<uint32_t>(expected))
          << row.name << "(" << in[i] << ") is " << got << ", not " << expected;
    }
  }
}

template <class Function, class Exact>
double worst_of_double(const Function& function, const Exact& exact, double from, double to) {
  std::mt19937_64 random(1);
  double worst = 0;
  const int64_t count = step() == 1 ? 100'000'000 : 300'000;
  std::vector<double> x(kChunk), y(kChunk);
  for (int64_t first = 0; first < count; first += kChunk) {
    // In every second chunk, the values are from a range whose limits are divided by 1000.
    const double scale = first / kChunk % 2 == 0 ? 1 : 1e-3;
    std::uniform_real_distribution<double> any(from * scale, to * scale);
    for (double& v : x) v = any(random);
    cpu::elementwise(kChunk, function, y.data(), static_cast<const double*>(x.data()));
    for (int i = 0; i < kChunk; ++i) {
      const long double exact_value = exact(static_cast<long double>(x[i]));
      int exponent = 0;
      std::frexp(exact_value, &exponent);
      worst =
          std::max(worst, static_cast<double>(std::fabs(y[i] - exact_value) /
                                              std::ldexp(1.0L, std::max(exponent, -1021) - 53)));
    }
  }
  std::printf("worst: %.4f ulp\n", worst);
  return worst;
}

// A functor may call functions of math.h, as in the example of the documentation.
TEST(MathValues, AFunctorThatUsesThem) {
  const std::vector<float> x = {-1, 0, 2}, gate = {0, 1, 3};
  std::vector<float> y(3);
  // [functor]
  struct GeluAndMul {
    float operator()(float g, float v) const { return math::gelu(g) * v; }
  };
  cpu::elementwise(3, GeluAndMul{}, y.data(), gate.data(), x.data());
  // [/functor]
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(y[i], Gelu::exact(gate[i]) * x[i], 1e-6);
  }
}

TEST(MathValues, ExpOfDouble) {
  const auto op = [](double x) { return exp(x); };
  EXPECT_LE(worst_of_double(
                op, [](long double x) { return std::exp(x); }, -744, 709),
            1.02);
  EXPECT_EQ(exp(kInf), kInf);
  EXPECT_EQ(exp(-kInf), 0.0);
  EXPECT_EQ(exp(-0.0), 1.0);
  EXPECT_EQ(exp(710.0), kInf);
  EXPECT_EQ(exp(-746.0), 0.0);
  EXPECT_EQ(exp(1e300), kInf);
  EXPECT_EQ(exp(-1e300), 0.0);
  EXPECT_TRUE(std::isnan(exp(std::nan(""))));
}

TEST(MathValues, LogOfDouble) {
  const auto op = [](double x) { return log(x); };
  const auto exact = [](long double x) { return std::log(x); };
  EXPECT_LE(worst_of_double(op, exact, 0, 1e3), 1);
  EXPECT_LE(worst_of_double(op, exact, 0, 1e308), 1);
  EXPECT_LE(worst_of_double(op, exact, 0, 1e-308), 1);  // subnormal
  EXPECT_EQ(log(1.0), 0.0);
  EXPECT_EQ(log(kInf), kInf);
  EXPECT_EQ(log(0.0), -kInf);
  EXPECT_EQ(log(-0.0), -kInf);
  EXPECT_TRUE(std::isnan(log(-1.0)) && std::isnan(log(-kInf)) && std::isnan(log(std::nan(""))));
}

TEST(MathValues, SigmoidSiluAndRsqrtOfDouble) {
  EXPECT_NEAR(sigmoid(1.5), 1 / (1 + std::exp(-1.5)), 3e-16);
  EXPECT_NEAR(silu(1.5), 1.5 / (1 + std::exp(-1.5)), 6e-16);
  EXPECT_EQ(sigmoid(-kInf), 0.0);
  EXPECT_TRUE(std::isnan(silu(-kInf)));
  EXPECT_TRUE(std::signbit(silu(-1e3)));
  EXPECT_EQ(rsqrt(4.0), 0.5);
}

}  // namespace
}  // namespace kernkit::math
