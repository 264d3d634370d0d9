// SPDX-License-Identifier: Apache-2.0
// Forms of arithmetic, selection, comparison and conversion that occur in real kernels and that no
// other test runs. Forms with one 16-bit source run for every value of the source.
#include <functional>

#include "float_formats.h"
#include "instructions.h"
#include "register_values.h"

namespace kernkit::simulator {
namespace {

uint64_t sign_extended(uint64_t x, int bits) {
  return static_cast<uint64_t>(static_cast<int64_t>(x << (64 - bits)) >> (64 - bits));
}
// Returns each(0) and each(16) in one register: the results for the lower and the upper number.
template <class Each>
uint64_t in_both(const Each& each) {
  return each(0) | each(16) << 16;
}

class PtxValueForms : public Instruction {
 protected:
  // Checks an instruction with one source, for every 16-bit value of the source.
  void check_each(const std::string& text, const std::vector<std::string>& types,
                  const std::function<uint64_t(uint64_t)>& reference) {
    std::vector<uint64_t> sources[3];
    for (uint64_t i = 0; i < 65536; ++i) sources[0].push_back(i);
    sources[1] = sources[2] = sources[0];
    check(
        text, types, [&](uint64_t a, uint64_t, uint64_t) { return reference(a); }, sources);
  }
};

TEST_F(PtxValueForms, Choices) {
  for (const std::string type :
       {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"}) {
    const std::string b = "b" + type.substr(1);
    check("{ .reg .pred p; setp.gt.u32 p, %c, 1000; selp." + type + " %d, %a, %b, p; }",
          {b, b, b, "b32"}, [](uint64_t a, uint64_t y, uint64_t c) { return c > 1000 ? a : y; });
  }
}

TEST_F(PtxValueForms, Predicates) {
  const auto check_one = [&](const std::string& text,
                             const std::function<bool(bool, bool)>& reference) {
    check("{ .reg .pred p, q; setp.gt.u32 p, %a, 1000; setp.gt.u32 q, %b, 1000; " + text + "; }",
          {"pred", "b32", "b32"},
          [&](uint64_t a, uint64_t b, uint64_t) { return reference(a > 1000, b > 1000); });
  };
  check_one("and.pred %d, p, q", [](bool a, bool b) { return a && b; });
  check_one("or.pred %d, p, q", [](bool a, bool b) { return a || b; });
  check_one("xor.pred %d, p, q", [](bool a, bool b) { return a != b; });
  check_one("not.pred %d, p", [](bool a, bool) { return !a; });
  check_one("mov.pred %d, q", [](bool, bool b) { return b; });
}

TEST_F(PtxValueForms, Comparisons) {
  const struct {
    const char* name;
    bool less, equal, greater, unordered;
  } all[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
             {"lt", true, false, false, false}, {"le", true, true, false, false},
             {"gt", false, false, true, false}, {"ge", false, true, true, false},
             {"equ", false, true, false, true}, {"neu", true, false, true, true},
             {"ltu", true, false, false, true}, {"leu", true, true, false, true},
             {"gtu", false, false, true, true}, {"geu", false, true, true, true},
             {"num", true, true, true, false},  {"nan", false, false, false, true}};
  for (const auto& row : all) {
    const auto holds = [&](double a, double b) -> uint64_t {
      return a < b ? row.less : a == b ? row.equal : a > b ? row.greater : row.unordered;
    };
    const std::string setp = std::string("setp.") + row.name;
    check(setp + ".f32 %d, %a, %b", {"pred", "f32", "f32"},
          [&](uint64_t a, uint64_t b, uint64_t) { return holds(f32(a), f32(b)); });
    check(
        setp + ".ftz.f32 %d, %a, %b", {"pred", "f32", "f32"},
        [&](uint64_t a, uint64_t b, uint64_t) { return holds(flushed(f32(a)), flushed(f32(b))); });
    check(setp + ".f64 %d, %a, %b", {"pred", "f64", "f64"},
          [&](uint64_t a, uint64_t b, uint64_t) { return holds(f64(a), f64(b)); });
    check(setp + ".f16 %d, %a, %b", {"pred", "f16", "f16"},
          [&](uint64_t a, uint64_t b, uint64_t) { return holds(f16(a), f16(b)); });
    check(setp + ".bf16 %d, %a, %b", {"pred", "bf16", "bf16"},
          [&](uint64_t a, uint64_t b, uint64_t) { return holds(bf16(a), bf16(b)); });
    // The instruction `set`: the result of each half of a pair is 1.0 or all ones if the comparison
    // is true, otherwise 0.
    const std::string set = std::string("set.") + row.name;
    for (const std::string type : {"f16", "bf16"}) {
      const uint64_t yes = type == "f16" ? 0x3c00 : 0x3f80;
      const auto value = [&](uint64_t x) { return type == "f16" ? f16(x) : bf16(x); };
      const auto of_pair = [&](uint64_t a, uint64_t b, uint64_t result) {
        const uint64_t low = holds(value(a & 0xffff), value(b & 0xffff)),
                       high = holds(value(a >> 16), value(b >> 16));
        return low * result | high * result << 16;
      };
      check(set + "." + type + "." + type + " %d, %a, %b", {type, type, type},
            [&](uint64_t a, uint64_t b, uint64_t) { return yes * holds(value(a), value(b)); });
      const std::string two = type + "x2";
      check(set + "." + two + "." + two + " %d, %a, %b", {two, two, two},
            [&](uint64_t a, uint64_t b, uint64_t) { return of_pair(a, b, yes); });
      check(set + ".u32." + two + " %d, %a, %b", {"u32", two, two},
            [&](uint64_t a, uint64_t b, uint64_t) { return of_pair(a, b, 0xffff); });
    }
  }
  check("set.lt.u16.f16 %d, %a, %b", {"u16", "f16", "f16"},
        [](uint64_t a, uint64_t b, uint64_t) { return f16(a) < f16(b) ? 0xffffu : 0; });
  check("set.lt.s32.bf16 %d, %a, %b", {"s32", "bf16", "bf16"},
        [](uint64_t a, uint64_t b, uint64_t) { return bf16(a) < bf16(b) ? UINT32_MAX : 0; });
  check("set.ge.f16.f32 %d, %a, %b", {"f16", "f32", "f32"},
        [](uint64_t a, uint64_t b, uint64_t) { return f32(a) >= f32(b) ? 0x3c00u : 0; });
  const auto check_set = [&](const std::string& how,
                             const std::function<bool(float, float)>& holds) {
    check("set." + how + ".f32.f32 %d, %a, %b", {"f32", "f32", "f32"},
          [&](uint64_t a, uint64_t b, uint64_t) {
            return bits(holds(f32(a), f32(b)) ? 1.0f : 0.0f);
          });
  };
  check_set("ge", std::greater_equal<>());
  check_set("gt", std::greater<>());
  check_set("lt", std::less<>());
  for (const std::string n : {"16", "32", "64"}) {
    check("setp.eq.b" + n + " %d, %a, %b", {"pred", "b" + n, "b" + n},
          [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return a == b; });
    check("setp.ne.b" + n + " %d, %a, %b", {"pred", "b" + n, "b" + n},
          [](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return a != b; });
  }
}

TEST_F(PtxValueForms, Moves) {
  for (const std::string type : {"b16", "u16", "b32", "u32", "f32", "b64", "u64", "f64"}) {
    const std::string b = "b" + type.substr(1);
    check("mov." + type + " %d, %a", {b, b}, [](uint64_t a, uint64_t, uint64_t) { return a; });
  }
  check("shr.b64 %d, %a, %b", {"b64", "b64", "b32"},
        [](uint64_t a, uint64_t b, uint64_t) { return b > 63 ? 0 : a >> b; });
  check("shr.b32 %d, %a, %b", {"b32", "b32", "b32"},
        [](uint64_t a, uint64_t b, uint64_t) { return b > 31 ? 0 : a >> b; });
}

TEST_F(PtxValueForms, PackedHalves) {
  const auto check_format = [&](const std::string& type, int e, int m) {
    const auto value = [=](uint64_t x) { return decoded(x & 0xffff, e, m); };
    check("add." + type + " %d, %a, %b", {type, type, type}, [=](uint64_t a, uint64_t b, uint64_t) {
      return in_both([=](int at) { return encoded(value(a >> at) + value(b >> at), e, m); });
    });
    check("sub." + type + " %d, %a, %b", {type, type, type}, [=](uint64_t a, uint64_t b, uint64_t) {
      return in_both([=](int at) { return encoded(value(a >> at) - value(b >> at), e, m); });
    });
    check("mul." + type + " %d, %a, %b", {type, type, type}, [=](uint64_t a, uint64_t b, uint64_t) {
      return in_both([=](int at) { return encoded(value(a >> at) * value(b >> at), e, m); });
    });
  };
  check_format("f16x2", 5, 10);
  check_format("bf16x2", 8, 7);
  // The factors and the term have similar magnitudes, so long double holds the exact sum.
  check(
      "{ .reg .b32 x; and.b32 x, %c, 0x80ff80ff; or.b32 x, x, 0x3f003f00; and.b32 %a, %a, "
      "0x80ff80ff; "
      "or.b32 %a, %a, 0x3f003f00; and.b32 %b, %b, 0x80ff80ff; or.b32 %b, %b, 0x3f003f00; "
      "fma.rn.bf16x2 %d, %a, %b, x; }",
      {"bf16x2", "bf16x2", "bf16x2", "bf16x2"}, [](uint64_t a, uint64_t b, uint64_t c) {
        const auto near_one = [](uint64_t x) { return (x & 0x80ff80ff) | 0x3f003f00; };
        a = near_one(a), b = near_one(b), c = near_one(c);
        return in_both([=](int at) {
          return encoded(static_cast<long double>(bf16(a >> at)) * bf16(b >> at) + bf16(c >> at), 8,
                         7);
        });
      });
}

// min and max prefer a number to a NaN; -0 is less than +0.
TEST_F(PtxValueForms, LeastAndGreatestHalves) {
  for (const std::string type : {"f16", "bf16", "f16x2", "bf16x2"}) {
    const bool is_f16 = type[0] == 'f';
    const auto value = [=](uint64_t x) { return is_f16 ? f16(x) : bf16(x); };
    const auto each =
        [=](const std::function<uint64_t(uint64_t, uint64_t)>& half_result) -> Reference {
      return [=](uint64_t a, uint64_t b, uint64_t) {
        return in_both([&](int at) { return half_result(a >> at & 0xffff, b >> at & 0xffff); });
      };
    };
    const auto chosen = [=](bool least) {
      return [=](uint64_t a, uint64_t b) -> uint64_t {
        const double x = value(a), y = value(b);
        if (x != x || y != y) return x == x ? a : y == y ? b : 0x7fff;
        const bool a_is_less = x < y || (x == y && std::signbit(x));
        return a_is_less == least ? a : b;
      };
    };
    check("min." + type + " %d, %a, %b", {type, type, type}, each(chosen(true)));
    check("max." + type + " %d, %a, %b", {type, type, type}, each(chosen(false)));
    check("abs." + type + " %d, %a", {type, type},
          each([](uint64_t a, uint64_t) { return a & 0x7fff; }));
    check("neg." + type + " %d, %a", {type, type},
          each([](uint64_t a, uint64_t) { return a ^ 0x8000; }));
  }
}

TEST_F(PtxValueForms, Flushing) {
  // PTX ISA's bound for div.approx with sources whose magnitudes are between 2^-126 and 2^126.
  const Bound kTwoUnits{std::ldexp(1, -22), std::numeric_limits<float>::min(), std::ldexp(1, -126),
                        std::ldexp(1, 126)};
  const Bound kOfAll{std::ldexp(1, -22), std::numeric_limits<float>::min()};
  const auto check_two = [&](const std::string& op,
                             const std::function<float(float, float)>& reference,
                             const Bound& bound = {}) {
    check(
        op + " %d, %a, %b", {"f32", "f32", "f32"},
        [&](uint64_t a, uint64_t b, uint64_t) {
          return bits(flushed(reference(flushed(f32(a)), flushed(f32(b)))));
        },
        bound);
  };
  check_two("sub.ftz.f32", std::minus<>());
  // Returns a times the reciprocal of b. A subnormal reciprocal is flushed to zero, so a magnitude
  // of b above 2^126 gives 0, or NaN if a is infinite.
  const auto by_reciprocal = [](float a, float b) {
    return std::fabs(b) > std::ldexp(1.0f, 126) ? a * std::copysign(0.0f, b) : a / b;
  };
  check_two("div.approx.ftz.f32", by_reciprocal, kTwoUnits);
  check_two("div.full.ftz.f32", std::divides<>(), kOfAll);
  check_two("max.ftz.f32", [](float a, float b) {
    if (a == 0 && b == 0) return std::signbit(a) ? b : a;
    return a != a ? b : b != b ? a : std::max(a, b);
  });
  check_two("min.ftz.f32", [](float a, float b) {
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
    return a != a ? b : b != b ? a : std::min(a, b);
  });
  // PTX ISA does not specify the bits of a NaN; the simulator inverts the sign bit.
  check("neg.ftz.f32 %d, %a", {"f32", "f32"}, [](uint64_t a, uint64_t, uint64_t) {
    return f32(a) != f32(a) ? a ^ 0x80000000 : bits(-flushed(f32(a)));
  });
  check("neg.f64 %d, %a", {"f64", "f64"},
        [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x8000000000000000; });
  check("abs.f64 %d, %a", {"f64", "f64"},
        [](uint64_t a, uint64_t, uint64_t) { return a & 0x7fffffffffffffff; });
  check("mul.rn.f32 %d, %a, %b", {"f32", "f32", "f32"},
        [](uint64_t a, uint64_t b, uint64_t) { return bits(f32(a) * f32(b)); });
  check("add.rn.f64 %d, %a, %b", {"f64", "f64", "f64"},
        [](uint64_t a, uint64_t b, uint64_t) { return bits(f64(a) + f64(b)); });
  check(
      "div.approx.f32 %d, %a, %b", {"f32", "f32", "f32"},
      [&](uint64_t a, uint64_t b, uint64_t) { return bits(by_reciprocal(f32(a), f32(b))); },
      kTwoUnits);
  check(
      "div.full.f32 %d, %a, %b", {"f32", "f32", "f32"},
      [](uint64_t a, uint64_t b, uint64_t) { return bits(f32(a) / f32(b)); }, kOfAll);
}

// Results are within two units in the last place of the exact value. PTX ISA allows at least this
// error.
TEST_F(PtxValueForms, Approximations) {
  const double kNear = std::ldexp(1, -22);
  const struct {
    const char* name;
    double (*exact)(double);
    bool flushes;
    double absolute = 0;  // additional error allowed on a GPU
  } all[] = {{"lg2.approx.ftz.f32", std::log2, true, kNear},
             {"rcp.approx.f32", [](double x) { return 1 / x; }, false},
             {"rcp.approx.ftz.f32", [](double x) { return 1 / x; }, true},
             {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, false},
             {"rsqrt.approx.ftz.f32", [](double x) { return 1 / std::sqrt(x); }, true},
             {"sqrt.approx.ftz.f32", std::sqrt, true}};
  std::vector<uint64_t> sources[3] = {values_of_all_kinds()};
  sources[1] = sources[2] = sources[0];
  for (const auto& row : all) {
    const auto results = run(std::string(row.name) + " %d, %a", {"f32", "f32"}, sources);
    ASSERT_EQ(fault(), "none") << row.name;
    const Bound bound{kNear, execution_target::is_simulator() ? 0 : row.absolute};
    for (size_t i = 0; i < results.size(); ++i) {
      const float a = row.flushes ? flushed(f32(sources[0][i])) : f32(sources[0][i]);
      const auto exact = static_cast<float>(row.exact(a));
      const uint64_t expected = bits(row.flushes ? flushed(exact) : exact),
                     got = bits(f32(results[i]));
      const bool is_number = std::isfinite(f32(expected)) && f32(expected) != 0;
      EXPECT_TRUE(got == expected || (is_number && is_allowed("f32", got, expected, bound)))
          << row.name << " of " << a << ": " << f32(got) << ", expected " << f32(expected);
    }
  }
}

TEST_F(PtxValueForms, Conversions) {
  check("cvt.f64.f32 %d, %a", {"f64", "f32"},
        [](uint64_t a, uint64_t, uint64_t) { return raw_bits(double{f32(a)}); });
  check("cvt.ftz.f64.f32 %d, %a", {"f64", "f32"},
        [](uint64_t a, uint64_t, uint64_t) { return bits(double{flushed(f32(a))}); });
  check("cvt.rn.ftz.f32.f64 %d, %a", {"f32", "f64"},
        [](uint64_t a, uint64_t, uint64_t) { return bits(flushed(static_cast<float>(f64(a)))); });
  check("cvt.sat.f32.f32 %d, %a", {"f32", "f32"}, [](uint64_t a, uint64_t, uint64_t) {
    return bits(f32(a) > 0 ? std::min(f32(a), 1.0f) : 0.0f);
  });
  check("cvt.rn.bf16x2.f32 %d, %a, %b", {"bf16x2", "f32", "f32"},
        [](uint64_t a, uint64_t b, uint64_t) {
          return encoded(f32(a), 8, 7) << 16 | encoded(f32(b), 8, 7);
        });
  check("cvt.rn.f32.u32 %d, %a", {"f32", "u32"},
        [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(a)); });
  check("cvt.rn.f64.s32 %d, %a", {"f64", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    return bits(static_cast<double>(static_cast<int32_t>(a)));
  });
  check("cvt.rn.bf16.s32 %d, %a", {"bf16", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    return encoded(static_cast<double>(static_cast<int32_t>(a)), 8, 7);
  });
  const auto in_direction = [&](const std::string& how, double to) {
    check("cvt." + how + ".f32.s32 %d, %a", {"f32", "s32"}, [=](uint64_t a, uint64_t, uint64_t) {
      const double x = static_cast<int32_t>(a), target = std::isnan(to) ? 0 : to;
      auto nearest = static_cast<float>(x);
      const bool is_beyond = target > x ? double{nearest} < x : double{nearest} > x;
      const bool away = std::isnan(to) && std::fabs(double{nearest}) > std::fabs(x);
      if (std::isnan(to) ? away : is_beyond)
        nearest = std::nextafter(nearest, static_cast<float>(target));
      return bits(nearest);
    });
  };
  in_direction("rp", std::numeric_limits<double>::infinity());
  in_direction("rm", -std::numeric_limits<double>::infinity());
  in_direction("rz", std::numeric_limits<double>::quiet_NaN());
  check("cvt.rzi.s32.f64 %d, %a", {"s32", "f64"}, [](uint64_t a, uint64_t, uint64_t) {
    if (f64(a) != f64(a)) return uint64_t{1} << 31;  // result for a NaN of .f64 (PTX ISA)
    const double x = std::trunc(f64(a));
    return static_cast<uint64_t>(
        static_cast<int64_t>(std::min(std::max(x, -2147483648.0), 2147483647.0)));
  });
  check("cvt.rzi.u64.f64 %d, %a", {"u64", "f64"}, [](uint64_t a, uint64_t, uint64_t) {
    const double x = f64(a);
    if (x != x) return uint64_t{1} << 63;  // result for a NaN (PTX ISA)
    return x <= 0 ? 0 : x >= 18446744073709551616.0 ? ~uint64_t{0} : static_cast<uint64_t>(x);
  });
  check("cvt.rn.f64.u64 %d, %a", {"f64", "u64"},
        [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<double>(a)); });
  check("cvt.rn.f16.s32 %d, %a", {"f16", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    return encoded(static_cast<double>(static_cast<int32_t>(a)), 5, 10);
  });
  check("cvt.rni.sat.s8.f32 %d, %a", {"s16", "f32"}, [](uint64_t a, uint64_t, uint64_t) {
    const float x = f32(a) != f32(a) ? 0 : std::nearbyint(f32(a));
    return static_cast<uint64_t>(static_cast<int64_t>(std::min(std::max(x, -128.0f), 127.0f)));
  });
  for (const std::string to : {"u16", "u32", "u64"}) {
    for (const std::string from : {"u16", "u32", "u64"}) {
      if (to == from) continue;
      check("cvt." + to + "." + from + " %d, %a", {to, from},
            [](uint64_t a, uint64_t, uint64_t) { return a; });
    }
  }
}

TEST_F(PtxValueForms, EachOf16Bits) {
  for (const auto& [type, format] :
       {std::pair<std::string, std::pair<int, int>>{"f16", {5, 10}}, {"bf16", {8, 7}}}) {
    const auto [e, m] = format;
    const auto value = [e = e, m = m](uint64_t x) { return decoded(x, e, m); };
    const auto is_nan = [=](uint64_t x) { return value(x) != value(x); };
    check_each("neg." + type + " %d, %a", {type, type}, [](uint64_t x) { return x ^ 0x8000; });
    check_each("abs." + type + " %d, %a", {type, type}, [](uint64_t x) { return x & 0x7fff; });
    check_each("cvt.f32." + type + " %d, %a", {"f32", type},
               [=](uint64_t x) { return bits(static_cast<float>(value(x))); });
    check_each("setp.nan." + type + " %d, %a, %a", {"pred", type},
               [=](uint64_t x) -> uint64_t { return is_nan(x); });
    for (const std::string from : {"u16", "s16", "u8", "s8"}) {
      const int width = from.back() == '8' ? 8 : 16;
      // For bf16, ptxas accepts an 8-bit number only from an 8-bit register.
      const bool is_narrow = type == "bf16" && width == 8;
      const std::string cvt = "cvt.rn." + type + "." + from + " %d, ";
      check_each(is_narrow ? "{ .reg .b8 n; cvt.u8.u16 n, %a; " + cvt + "n; }" : cvt + "%a",
                 {type, "b16"}, [=, e = e, m = m](uint64_t x) {
                   const uint64_t low = x & ((1u << width) - 1);
                   const auto integer =
                       static_cast<int64_t>(from[0] == 's' ? sign_extended(low, width) : low);
                   return encoded(static_cast<long double>(integer), e, m);
                 });
    }
  }
  check_each("neg.s16 %d, %a", {"s16", "s16"}, [](uint64_t x) { return 0 - x; });
  check_each("abs.s16 %d, %a", {"s16", "s16"},
             [](uint64_t x) { return (x & 0x8000) != 0 ? 0 - x : x; });
  check_each("not.b16 %d, %a", {"b16", "b16"}, [](uint64_t x) { return ~x; });
  check_each("cnot.b16 %d, %a", {"b16", "b16"}, [](uint64_t x) -> uint64_t { return x == 0; });
  check_each("cvt.rn.f32.u16 %d, %a", {"f32", "u16"},
             [](uint64_t x) { return bits(static_cast<float>(x)); });
  for (const std::string to : {"16", "32", "64"}) {
    check_each("cvt.u" + to + ".u8 %d, %a", {"b" + to, "b16"}, [](uint64_t x) { return x & 255; });
    check_each("cvt.s" + to + ".s8 %d, %a", {"b" + to, "b16"},
               [](uint64_t x) { return sign_extended(x, 8); });
    if (to == "16") continue;
    check_each("cvt.u" + to + ".u16 %d, %a", {"b" + to, "b16"}, [](uint64_t x) { return x; });
    check_each("cvt.s" + to + ".s16 %d, %a", {"b" + to, "b16"},
               [](uint64_t x) { return sign_extended(x, 16); });
  }
}

// Conversions of two 8-bit numbers to two 16-bit numbers, and back. e4m3 does not encode infinity,
// and encodes one NaN of each sign.
TEST_F(PtxValueForms, EachPairOf8Bits) {
  check_each("cvt.rn.f16x2.e5m2x2 %d, %a", {"f16x2", "b16"}, [](uint64_t x) {
    const auto wide = [](uint64_t code) -> uint64_t {
      const double value = decoded(code, 5, 2);
      return value != value ? 0x7fff : encoded(value, 5, 10);
    };
    return wide(x & 255) | wide(x >> 8) << 16;
  });
  check_each("cvt.rn.f16x2.e4m3x2 %d, %a", {"f16x2", "b16"}, [](uint64_t x) {
    const auto wide = [](uint64_t code) -> uint64_t {
      if ((code & 0x7f) == 0x7f) return 0x7fff;
      const double sign = (code & 0x80) != 0 ? -1 : 1;
      const bool top = (code >> 3 & 15) == 15;  // finite in e4m3: e4m3 has no infinity
      const double value = top ? std::ldexp(1 + (code & 7) / 8.0, 8) : decoded(code & 0x7f, 4, 3);
      return encoded(sign * value, 5, 10);
    };
    return wide(x & 255) | wide(x >> 8) << 16;
  });
  // Narrowing rounds to the nearest number; a magnitude above the largest number becomes the
  // largest number.
  const auto to_e4m3 = [](double x) -> uint64_t {
    if (x != x) return 0x7f;
    const uint64_t sign = std::signbit(x) ? 0x80 : 0;
    const double magnitude = std::fabs(x);
    if (magnitude > 448) return sign | 0x7e;
    const int exponent = magnitude == 0 ? -6 : std::max(std::ilogb(magnitude), -6);
    const double steps = std::nearbyint(std::ldexp(magnitude, 3 - exponent));
    return sign | static_cast<uint64_t>((exponent + 6) * 8 + steps);
  };
  const auto to_e5m2 = [](double x) -> uint64_t {
    if (x != x) return 0x7f;
    const uint64_t code = encoded(x, 5, 2);
    return (code & 0x7f) == 0x7c ? code - 1 : code;
  };
  for (const bool is_e4m3 : {true, false}) {
    for (const bool relu : {false, true}) {
      const auto narrowed = [=](double x) -> uint64_t {
        if (relu && x <= 0) return 0;
        return is_e4m3 ? to_e4m3(x) : to_e5m2(x);
      };
      const std::string to = is_e4m3 ? "e4m3x2" : "e5m2x2", more = relu ? ".relu" : "";
      check("cvt.rn.satfinite" + more + "." + to + ".f32 %d, %a, %b", {"b16", "f32", "f32"},
            [=](uint64_t a, uint64_t b, uint64_t) {
              return narrowed(f32(a)) << 8 | narrowed(f32(b));
            });
      check_each(
          "{ .reg .b32 x; .reg .b16 y; xor.b16 y, %a, 0x5a5a; mov.b32 x, {%a, y}; "
          "cvt.rn.satfinite" +
              more + "." + to + ".f16x2 %d, x; }",
          {"b16", "b16"},
          [=](uint64_t x) { return narrowed(f16(x ^ 0x5a5a)) << 8 | narrowed(f16(x)); });
    }
  }
  check_each("cvt.rn.relu.f16x2.e5m2x2 %d, %a", {"f16x2", "b16"}, [](uint64_t x) {
    const auto wide = [](uint64_t code) -> uint64_t {
      const double value = decoded(code, 5, 2);
      return value != value ? 0x7fff : value <= 0 ? 0 : encoded(value, 5, 10);
    };
    return wide(x & 255) | wide(x >> 8) << 16;
  });
}

}  // namespace
}  // namespace kernkit::simulator
