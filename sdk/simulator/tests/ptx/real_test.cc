// SPDX-License-Identifier: Apache-2.0
// Floating point. References use the processor's arithmetic in the same rounding mode, or in a
// format that holds the exact result. NaN, -0 and .ftz are as PTX ISA defines them.
#include <cfenv>
#include <cmath>
#include <limits>

#include "instructions.h"
#include "register_values.h"

namespace kernkit::simulator {
namespace {

// Returns the result of `work` in a rounding mode. The volatile variables prevent the compiler from
// moving the arithmetic across the calls of fesetround().
template <class T, class Work>
T rounded(int how, const Work& work, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  const int before = std::fegetround();
  std::fesetround(how);
  const volatile T result = work(T{x}, T{y}, T{z});
  std::fesetround(before);
  return result;
}

class PtxReal : public Instruction {
 protected:
  void check_float(const std::string& text, size_t sources,
                   const std::function<float(float a, float b, float c)>& reference,
                   const Bound& bound = {}) {
    check(
        text, std::vector<std::string>(sources + 1, "f32"),
        [&](uint64_t a, uint64_t b, uint64_t c) { return bits(reference(f32(a), f32(b), f32(c))); },
        bound);
  }
  void check_double(const std::string& text, size_t sources,
                    const std::function<double(double a, double b, double c)>& reference) {
    check(text, std::vector<std::string>(sources + 1, "f64"),
          [&](uint64_t a, uint64_t b, uint64_t c) {
            return bits(reference(f64(a), f64(b), f64(c)));
          });
  }
};

TEST_F(PtxReal, Arithmetic) {
  const auto add = [](auto a, auto b, auto) { return a + b; };
  const auto sub = [](auto a, auto b, auto) { return a - b; };
  const auto mul = [](auto a, auto b, auto) { return a * b; };
  const auto div = [](auto a, auto b, auto) { return a / b; };
  const auto fma = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
  const auto rcp = [](auto a, auto, auto) { return 1 / a; };
  const auto sqrt = [](auto a, auto, auto) { return std::sqrt(a); };
  for (const char* op : {"add", "add.rn"}) check_float(std::string(op) + ".f32 %d, %a, %b", 2, add);
  check_float("sub.f32 %d, %a, %b", 2, sub);
  check_float("mul.f32 %d, %a, %b", 2, mul);
  check_float("div.rn.f32 %d, %a, %b", 2, div);
  check_float("fma.rn.f32 %d, %a, %b, %c", 3, fma);
  check_float("mad.rn.f32 %d, %a, %b, %c", 3, fma);
  check_double("mad.rn.f64 %d, %a, %b, %c", 3, fma);
  check_float("rcp.rn.f32 %d, %a", 1, rcp);
  check_float("sqrt.rn.f32 %d, %a", 1, sqrt);
  check_double("add.f64 %d, %a, %b", 2, add);
  check_double("sub.f64 %d, %a, %b", 2, sub);
  check_double("mul.f64 %d, %a, %b", 2, mul);
  check_double("div.rn.f64 %d, %a, %b", 2, div);
  check_double("fma.rn.f64 %d, %a, %b, %c", 3, fma);
  check_double("rcp.rn.f64 %d, %a", 1, rcp);
  check_double("sqrt.rn.f64 %d, %a", 1, sqrt);
}

TEST_F(PtxReal, FlushesAndSaturates) {
  check_float("add.ftz.f32 %d, %a, %b", 2,
              [](float a, float b, float) { return flushed(flushed(a) + flushed(b)); });
  check_float("mul.ftz.f32 %d, %a, %b", 2,
              [](float a, float b, float) { return flushed(flushed(a) * flushed(b)); });
  check_float("fma.rn.ftz.f32 %d, %a, %b, %c", 3, [](float a, float b, float c) {
    return flushed(std::fma(flushed(a), flushed(b), flushed(c)));
  });
  const auto saturated = [](float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; };
  check_float("add.sat.f32 %d, %a, %b", 2,
              [&](float a, float b, float) { return saturated(a + b); });
  check_float("fma.rn.sat.f32 %d, %a, %b, %c", 3,
              [&](float a, float b, float c) { return saturated(std::fma(a, b, c)); });
}

TEST_F(PtxReal, OtherRoundings) {
  const struct {
    const char* name;
    int how;
  } all[] = {{"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& row : all) {
    const auto check_both = [&](const std::string& op, size_t sources, const auto& work) {
      const std::string name = op + "." + row.name;
      const std::string operands = std::string(" %d, %a, %b, %c").substr(0, 3 + 4 * sources);
      const int how = row.how;
      check_float(name + ".f32" + operands, sources,
                  [=](float a, float b, float c) { return rounded(how, work, a, b, c); });
      check_float(name + ".ftz.f32" + operands, sources, [=](float a, float b, float c) {
        return flushed(rounded(how, work, flushed(a), flushed(b), flushed(c)));
      });
      check_double(name + ".f64" + operands, sources,
                   [=](double a, double b, double c) { return rounded(how, work, a, b, c); });
    };
    check_both("add", 2, [](auto a, auto b, auto) { return a + b; });
    check_both("sub", 2, [](auto a, auto b, auto) { return a - b; });
    check_both("mul", 2, [](auto a, auto b, auto) { return a * b; });
    check_both("div", 2, [](auto a, auto b, auto) { return a / b; });
    check_both("fma", 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
    check_both("mad", 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
    check_both("rcp", 1, [](auto a, auto, auto) { return 1 / a; });
    check_both("sqrt", 1, [](auto a, auto, auto) { return std::sqrt(a); });
  }
  check_float("add.rz.sat.f32 %d, %a, %b", 2, [](float a, float b, float) {
    const auto add = [](float x, float y, float) { return x + y; };
    const float sum = rounded(FE_TOWARDZERO, add, a, b, 0.0f);
    return sum > 0 ? std::min(sum, 1.0f) : 0.0f;
  });
}
// A kernel's arithmetic does not depend on the floating-point mode of the thread that launches the
// kernel, and does not change this mode.
TEST_F(PtxReal, FloatingPointModeOfTheLaunchingThread) {
  PtxModule module(
      ".visible .entry k(.param .u64 x)\n{\n.reg .b64 %x; .reg .f32 %f<4>;\n"
      "ld.param.u64 %x, [x];\nld.global.f32 %f1, [%x];\nld.global.f32 %f2, [%x+4];\n"
      "add.rz.f32 %f3, %f1, %f2; add.rn.f32 %f3, %f1, %f2; st.global.f32 [%x+8], %f3;\n"
      "div.rn.f32 %f3, %f1, %f2; st.global.f32 [%x+12], %f3;\nret;\n}\n");
  auto* x = memory<float>(4);
  x[0] = 1.0f;
  x[1] = 1e-10f;
  fenv_t before;
  fegetenv(&before);
  std::fesetround(FE_UPWARD);
  const cudaError_t error = module.launch("k", 1, 1, 0, x);
  const cudaError_t later = cudaDeviceSynchronize();
  const int mode = std::fegetround();
  fesetenv(&before);
  EXPECT_EQ(error, cudaSuccess);
  EXPECT_EQ(later, cudaSuccess);
  EXPECT_EQ(mode, FE_UPWARD);
  EXPECT_EQ(x[2], 1.0f);
  EXPECT_EQ(x[3], 1.0f / 1e-10f);
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 ignore the low 32 bits of the source and set the low
// 32 bits of the result to 0, so 20 bits of the mantissa remain.
TEST_F(PtxReal, ReciprocalsOfHighHalves) {
  const auto check_one = [&](const std::string& op, double (*function)(double)) {
    check(op + ".approx.ftz.f64 %d, %a", {"f64", "f64"},
          [=](uint64_t a, uint64_t, uint64_t) {
            const uint64_t high = ~uint64_t{0xffffffff};
            if (f64(a) != f64(a)) return bits(f64(a));
            const auto flushed_double = [](double x) {
              return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x;
            };
            const double result = function(flushed_double(f64(a & high)));
            return result != result ? bits(result) : bits(flushed_double(f64(bits(result) & high)));
          },
          {std::ldexp(1, -19)});
  };
  check_one("rcp", [](double x) { return 1 / x; });
  check_one("rsqrt", [](double x) { return 1 / std::sqrt(x); });
}

TEST_F(PtxReal, LeastAndGreatest) {
  const auto min = [](auto a, auto b, auto) {
    if (a != a || b != b) return a != a ? b : a;
    return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
  };
  const auto max = [](auto a, auto b, auto) {
    if (a != a || b != b) return a != a ? b : a;
    return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
  };
  check_float("min.f32 %d, %a, %b", 2, min);
  check_float("max.f32 %d, %a, %b", 2, max);
  check_double("min.f64 %d, %a, %b", 2, min);
  check_double("max.f64 %d, %a, %b", 2, max);
  check_float("max.NaN.f32 %d, %a, %b", 2, [&](float a, float b, float c) {
    return a != a || b != b ? std::numeric_limits<float>::quiet_NaN() : max(a, b, c);
  });
  check("abs.f32 %d, %a", {"f32", "f32"},
        [](uint64_t a, uint64_t, uint64_t) { return a & 0x7fffffff; });
  check("neg.f32 %d, %a", {"f32", "f32"},
        [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x80000000; });
  check("copysign.f32 %d, %a, %b", {"f32", "f32", "f32"},
        [](uint64_t a, uint64_t b, uint64_t) { return (a & 0x80000000) | (b & 0x7fffffff); });
}

// .xorsign.abs compares the magnitudes of the sources; the result has the sign of their product.
TEST_F(PtxReal, LeastAndGreatestMagnitudes) {
  for (const bool least : {true, false}) {
    for (const bool with_nan : {true, false}) {
      for (const bool flushes : {true, false}) {
        const std::string op = std::string(least ? "min" : "max") + (flushes ? ".ftz" : "") +
                               (with_nan ? ".NaN" : "") + ".xorsign.abs.f32 %d, %a, %b";
        check_float(op, 2, [=](float a, float b, float) {
          const bool negative = std::signbit(a) != std::signbit(b);
          float x = std::fabs(flushes ? flushed(a) : a), y = std::fabs(flushes ? flushed(b) : b);
          if (with_nan && (x != x || y != y)) return std::numeric_limits<float>::quiet_NaN();
          if (x != x) x = y;
          if (y != y) y = x;
          const float selected = least ? std::min(x, y) : std::max(x, y);
          return negative ? -selected : selected;
        });
      }
    }
  }
}

TEST_F(PtxReal, Comparisons) {
  const auto check_one = [&](const std::string& how,
                             const std::function<bool(double, double)>& holds) {
    check("setp." + how + ".f32 %d, %a, %b", {"pred", "f32", "f32"},
          [&](uint64_t a, uint64_t b, uint64_t) { return holds(f32(a), f32(b)); });
    check("setp." + how + ".f64 %d, %a, %b", {"pred", "f64", "f64"},
          [&](uint64_t a, uint64_t b, uint64_t) { return holds(f64(a), f64(b)); });
  };
  const auto nan = [](double a, double b) { return a != a || b != b; };
  check_one("eq", std::equal_to<>());
  check_one("ne", [&](double a, double b) { return a != b && !nan(a, b); });
  check_one("lt", std::less<>());
  check_one("ge", std::greater_equal<>());
  check_one("equ", [&](double a, double b) { return a == b || nan(a, b); });
  check_one("neu", std::not_equal_to<>());
  check_one("leu", [&](double a, double b) { return a <= b || nan(a, b); });
  check_one("gtu", [&](double a, double b) { return a > b || nan(a, b); });
  check_one("num", [&](double a, double b) { return !nan(a, b); });
  check_one("nan", nan);
}

// Compares results of approximations with the bounds of PTX ISA. The errors of the simulator are
// far below these bounds; the errors of a GPU may reach the bounds.
TEST_F(PtxReal, Approximations) {
  const double kNear = std::ldexp(1, -22), kTurns = 100 * 3.14159;
  const struct {
    const char* name;
    double (*function)(double);
    Bound bound;
  } all[] = {{"ex2.approx", std::exp2, {kNear}},
             {"lg2.approx", std::log2, {kNear, kNear}},
             {"sin.approx", std::sin, {0, std::ldexp(1, -14), 0, kTurns}},
             {"cos.approx", std::cos, {0, std::ldexp(1, -14), 0, kTurns}},
             {"tanh.approx", std::tanh, {std::ldexp(1, -10)}},
             {"sqrt.approx", std::sqrt, {kNear}}};
  for (const auto& row : all) {
    check_float(
        std::string(row.name) + ".f32 %d, %a", 1,
        [&](float a, float, float) { return static_cast<float>(row.function(a)); }, row.bound);
  }
  check_float("ex2.approx.ftz.f32 %d, %a", 1,
              [](float a, float, float) {
                return flushed(static_cast<float>(std::exp2(static_cast<double>(flushed(a)))));
              },
              {kNear});
}

TEST_F(PtxReal, ApproximationsOf16Bits) {
  const auto check_one = [&](const std::string& op, const std::string& type,
                             double (*function)(double), bool flushes, const Bound& bound) {
    const int exponent_bits = type == "f16" ? 5 : 8, mantissa_bits = type == "f16" ? 10 : 7;
    const auto flushed_one = [=](double x) {
      return flushes && std::fabs(x) < std::ldexp(1, -126) ? std::copysign(0.0, x) : x;
    };
    const auto half_result = [=](uint64_t a) {
      const double x = flushed_one(decoded(a & 0xffff, exponent_bits, mantissa_bits));
      const uint64_t result = encoded(function(x), exponent_bits, mantissa_bits);
      const double y = decoded(result, exponent_bits, mantissa_bits);
      return y != y ? result : encoded(flushed_one(y), exponent_bits, mantissa_bits);
    };
    check(
        op + "." + type + " %d, %a", {type, type},
        [=](uint64_t a, uint64_t, uint64_t) { return half_result(a); }, bound);
    check(
        op + "." + type + "x2 %d, %a", {type + "x2", type + "x2"},
        [=](uint64_t a, uint64_t, uint64_t) { return half_result(a) | half_result(a >> 16) << 16; },
        bound);
  };
  check_one("ex2.approx", "f16", std::exp2, false, {std::ldexp(1, -9)});
  check_one("ex2.approx.ftz", "bf16", std::exp2, true, {std::ldexp(1, -7)});
  check_one("tanh.approx", "f16", std::tanh, false, {std::ldexp(1, -10)});
  check_one("tanh.approx", "bf16", std::tanh, false, {std::ldexp(1, -7)});
}

// Forms of PTX for sm_10 to sm_13, whose .f32 arithmetic flushes subnormal numbers to zero.
class PtxRealOfFirstDevices : public Instruction {
 protected:
  PtxRealOfFirstDevices() : Instruction(80, "sm_13") {}
  void check_float(const std::string& text, size_t sources,
                   const std::function<float(float a, float b, float c)>& reference) {
    check(text, std::vector<std::string>(sources + 1, "f32"),
          [&](uint64_t a, uint64_t b, uint64_t c) {
            return bits(flushed(reference(flushed(f32(a)), flushed(f32(b)), flushed(f32(c)))));
          });
  }
};

// Subnormal sources and results are flushed to zero: ptxas compiles these forms of PTX for sm_13 to
// FFMA.FTZ and FADD.FTZ.
TEST_F(PtxRealOfFirstDevices, SubnormalNumbersAreZero) {
  const auto mad = [](float a, float b, float c) { return std::fma(a, b, c); };
  check_float("mad.f32 %d, %a, %b, %c", 3, mad);
  check_float("mad.sat.f32 %d, %a, %b, %c", 3, [&](float a, float b, float c) {
    const float d = mad(a, b, c);
    return d > 0 ? std::min(d, 1.0f) : 0.0f;
  });
  check_float("add.f32 %d, %a, %b", 2, [](float a, float b, float) { return a + b; });
}

// Forms of compute capability 10.0: two floats in a 64-bit register, and the least and the greatest
// of three floats.
class PtxReal100 : public Instruction {
 protected:
  PtxReal100() : Instruction(100, "sm_100") {}
};

TEST_F(PtxReal100, PairsOfFloats) {
  const struct {
    const char* name;
    int how;
  } all[] = {{"", FE_TONEAREST},
             {".rn", FE_TONEAREST},
             {".rz", FE_TOWARDZERO},
             {".rm", FE_DOWNWARD},
             {".rp", FE_UPWARD}};
  for (const auto& row : all) {
    for (const bool flushes : {false, true}) {
      const auto check_one = [&](const std::string& op, bool fused, const auto& work) {
        if (fused && row.name[0] == '\0') return;  // fma requires a rounding modifier
        const auto half = [=](uint64_t a, uint64_t b, uint64_t c) {
          const auto x = [=](uint64_t pattern) {
            return flushes ? flushed(f32(pattern)) : f32(pattern);
          };
          const float d = rounded(row.how, work, x(a), x(b), x(c));
          return bits(flushes ? flushed(d) : d);
        };
        std::vector<std::string> types(fused ? 4 : 3, "b64");
        check(op + row.name + (flushes ? ".ftz" : "") + ".f32x2 %d, %a, %b" + (fused ? ", %c" : ""),
              types, [=](uint64_t a, uint64_t b, uint64_t c) {
                return half(a, b, c) | half(a >> 32, b >> 32, c >> 32) << 32;
              });
      };
      check_one("add", false, [](float a, float b, float) { return a + b; });
      check_one("sub", false, [](float a, float b, float) { return a - b; });
      check_one("mul", false, [](float a, float b, float) { return a * b; });
      check_one("fma", true, [](float a, float b, float c) { return std::fma(a, b, c); });
    }
  }
}

TEST_F(PtxReal100, LeastAndGreatestOfThree) {
  for (const bool least : {true, false}) {
    for (const std::string more : {"", ".NaN", ".abs", ".ftz", ".ftz.NaN.abs"}) {
      const auto has = [&](const char* modifier) {
        return more.find(modifier) != std::string::npos;
      };
      const bool with_nan = has("NaN"), magnitudes = has("abs"), flushes = has("ftz");
      check((least ? "min" : "max") + more + ".f32 %d, %a, %b, %c", {"f32", "f32", "f32", "f32"},
            [=](uint64_t a, uint64_t b, uint64_t c) {
              float result = std::numeric_limits<float>::quiet_NaN();
              for (const uint64_t pattern : {a, b, c}) {
                float x = flushes ? flushed(f32(pattern)) : f32(pattern);
                if (magnitudes) x = std::fabs(x);
                if (x != x && with_nan) return bits(x);
                if (x != x) continue;
                // -0 is less than +0.
                const bool is_less =
                    x < result || (x == result && std::signbit(x) && !std::signbit(result));
                const bool is_more =
                    x > result || (x == result && !std::signbit(x) && std::signbit(result));
                if (result != result || (least ? is_less : is_more)) result = x;
              }
              return bits(result);
            });
    }
  }
}

}  // namespace
}  // namespace kernkit::simulator
