// SPDX-License-Identifier: Apache-2.0
// Conversions and 16-bit arithmetic. Instructions with one 16-bit source run for every value of the
// source.
#include "float_formats.h"
#include "instructions.h"
#include "register_values.h"

namespace kernkit::simulator {
namespace {

// decoded() and encoded() return the same results as decoded_by_definition() and
// encoded_by_definition(), which are slower.
TEST(FloatFormats, QuickOnesFollowTheDefinition) {
  std::mt19937_64 random(3);
  for (const int e : {4, 5, 8}) {
    const int m = e == 4 ? 3 : 15 - e;
    for (int i = 0; i < 300000; ++i) {
      const uint64_t any = random();
      const double nearest = decoded_by_definition(any & 0xffff, e, m);
      const int exponent = static_cast<int>(any >> 32 & 511) - 256;
      // Numbers of the format, midpoints, neighbours of midpoints, and other numbers.
      const double step = std::ldexp(
          1.0, std::ilogb(nearest != 0 && nearest - nearest == 0 ? nearest : 1.0) - m - 1);
      const double numbers[] = {nearest,
                                nearest + step,
                                nearest + step * 1.0000000001,
                                std::ldexp(static_cast<double>(any), exponent - 64),
                                nearest * 0.5,
                                -std::ldexp(1.0, exponent)};
      for (const double x : numbers) {
        ASSERT_EQ(encoded(x, e, m), encoded_by_definition(x, e, m)) << x;
      }
      const double quick = decoded(any & 0xffff, e, m);
      ASSERT_TRUE(quick == nearest || (quick != quick && nearest != nearest)) << any;
    }
  }
}

class PtxConvert : public Instruction {
 protected:
  // Checks an instruction with one source, for every 16-bit value of the source.
  void check_each(const std::string& text, const std::vector<std::string>& types,
                  const Reference& reference) {
    std::vector<uint64_t> sources[3];
    for (uint64_t i = 0; i < 65536; ++i) sources[0].push_back(i);
    sources[1] = sources[2] = sources[0];
    check(text, types, reference, sources);
  }
};

// Returns the bits of a float rounded to tf32, which has 8 exponent bits and 10 fraction bits.
// `round` rounds to an integer; the computation is in double precision.
uint64_t tf32_bits(uint64_t a, double (*round)(double)) {
  const double x = f32(a);
  if (x != x) return 0x7fffffff;
  if (x == 0 || std::isinf(x)) return a;
  const double step = std::ldexp(1.0, std::max(std::ilogb(x), -126) - 10);
  return bits(static_cast<float>(std::copysign(round(x / step) * step, x)));
}

TEST_F(PtxConvert, ToTensorFloats) {
  const std::vector<std::string> types = {"b32", "f32"};
  check("cvt.rna.tf32.f32 %d, %a", types, [](uint64_t a, uint64_t, uint64_t) {
    return tf32_bits(a, [](double x) { return std::round(x); });
  });
  check("cvt.rn.tf32.f32 %d, %a", types, [](uint64_t a, uint64_t, uint64_t) {
    return tf32_bits(a, [](double x) { return std::nearbyint(x); });
  });
  check("cvt.rz.tf32.f32 %d, %a", types, [](uint64_t a, uint64_t, uint64_t) {
    return tf32_bits(a, [](double x) { return std::trunc(x); });
  });
  // Sources with all values of the bits that the conversion drops. The last kept bit is 0 or 1.
  std::vector<uint64_t> sources[3];
  for (uint64_t i = 0; i < 32768; ++i) sources[0].push_back(0x40490000 + i);
  sources[1] = sources[2] = sources[0];
  const Reference away = [](uint64_t a, uint64_t, uint64_t) {
    return tf32_bits(a, [](double x) { return std::round(x); });
  };
  check("cvt.rna.tf32.f32 %d, %a", types, away, sources);
}

TEST_F(PtxConvert, BetweenFloats) {
  check_each("cvt.f32.f16 %d, %a", {"f32", "f16"},
             [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(f16(a))); });
  check_each("cvt.f32.bf16 %d, %a", {"f32", "bf16"},
             [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(bf16(a))); });
  check("cvt.rn.f16.f32 %d, %a", {"f16", "f32"},
        [](uint64_t a, uint64_t, uint64_t) { return encoded(double{f32(a)}, 5, 10); });
  check("cvt.rn.bf16.f32 %d, %a", {"bf16", "f32"},
        [](uint64_t a, uint64_t, uint64_t) { return encoded(double{f32(a)}, 8, 7); });
  check("cvt.rn.f16x2.f32 %d, %a, %b", {"f16x2", "f32", "f32"},
        [](uint64_t a, uint64_t b, uint64_t) {
          return encoded(double{f32(a)}, 5, 10) << 16 | encoded(double{f32(b)}, 5, 10);
        });
  const auto f16_of_f64 = [](uint64_t a, uint64_t, uint64_t) {
    double x;
    std::memcpy(&x, &a, sizeof(x));
    return encoded(x, 5, 10);
  };
  check("cvt.rn.f16.f64 %d, %a", {"f16", "f64"}, f16_of_f64);
  // 1 + 2^-11 + 2^-40 and its negative. An intermediate rounding to float would drop 2^-40 and
  // leave a tie.
  std::vector<uint64_t> sources[3];
  for (auto& each : sources) each = {0x3FF0020000001000, 0xBFF0020000001000};
  check("cvt.rn.f16.f64 %d, %a", {"f16", "f64"}, f16_of_f64, sources);
  check("cvt.rn.f32.f64 %d, %a", {"f32", "f64"}, [](uint64_t a, uint64_t, uint64_t) {
    double x;
    std::memcpy(&x, &a, sizeof(x));
    return bits(static_cast<float>(x));
  });
}

// Returns x, rounded in direction `how` to a number of the format with e exponent bits and m
// mantissa bits. The result is the nearest number or a neighbour of the nearest number.
uint64_t directed(double x, char how, int e, int m) {
  const uint64_t nearest = encoded(x, e, m);
  const double value = decoded(nearest, e, m);
  if (x != x || x - x != 0) return nearest;
  const bool too_high = value > x, too_low = value < x;
  const bool down = how == 'm'   ? too_high
                    : how == 'z' ? x > 0 && too_high
                                 : false,
             up = how == 'p'   ? too_low
                  : how == 'z' ? x < 0 && too_low
                               : false;
  if (!down && !up) return nearest;
  const bool negative = (nearest & 0x8000) != 0;
  if ((nearest & 0x7fff) == 0) return down ? 0x8001 : 0x0001;
  return negative == down ? nearest + 1 : nearest - 1;
}

TEST_F(PtxConvert, DirectedRoundingsOf16Bits) {
  for (const std::string how : {"rz", "rm", "rp"}) {
    for (const std::string type : {"f16", "bf16"}) {
      const int e = type == "f16" ? 5 : 8, m = 15 - e;
      const auto text = [&](const std::string& from) {
        return "cvt." + how + "." + type + "." + from + " %d, %a";
      };
      const auto round = [&](double x) { return directed(x, how[1], e, m); };
      check(text("f32"), {type, "f32"},
            [&](uint64_t a, uint64_t, uint64_t) { return round(f32(a)); });
      check(text("u32"), {type, "u32"},
            [&](uint64_t a, uint64_t, uint64_t) { return round(static_cast<double>(a)); });
      check(text("s32"), {type, "s32"}, [&](uint64_t a, uint64_t, uint64_t) {
        return round(static_cast<double>(static_cast<int32_t>(a)));
      });
      check_each(text("u16"), {type, "u16"},
                 [&](uint64_t a, uint64_t, uint64_t) { return round(static_cast<double>(a)); });
      check_each(text("s16"), {type, "s16"}, [&](uint64_t a, uint64_t, uint64_t) {
        return round(static_cast<double>(static_cast<int16_t>(a)));
      });
      // Converts to double with round-to-odd: if bits are dropped, the last bit is set, so that the
      // following rounding to the format is correct.
      const auto wide = [&](bool negative, uint64_t magnitude) {
        const int more = magnitude >> 53 != 0 ? 11 - __builtin_clzll(magnitude) : 0;
        const bool inexact = (magnitude & ((uint64_t{1} << more) - 1)) != 0;
        const auto x =
            std::ldexp(static_cast<double>(magnitude >> more | (inexact ? 1u : 0u)), more);
        return round(negative ? -x : x);
      };
      check(text("u64"), {type, "u64"},
            [&](uint64_t a, uint64_t, uint64_t) { return wide(false, a); });
      check(text("s64"), {type, "s64"}, [&](uint64_t a, uint64_t, uint64_t) {
        const bool negative = static_cast<int64_t>(a) < 0;
        return wide(negative, negative ? 0 - a : a);
      });
    }
  }
}

// Returns a float narrowed to 16 bits. `more` may contain the modifiers "relu" and "satfinite".
uint64_t narrowed(uint64_t a, const std::string& how, const std::string& more, int e, int m) {
  const double x = f32(a);
  const auto has = [&](const char* modifier) { return more.find(modifier) != std::string::npos; };
  if (x != x) return 0x7fff;
  if (has("relu") && x <= 0) return 0;
  const uint64_t result = how == "rz" ? directed(x, 'z', e, m) : encoded(x, e, m);
  const uint64_t infinity = ((uint64_t{1} << e) - 1) << m;
  return has("satfinite") && (result & 0x7fff) == infinity ? result - 1 : result;
}

TEST_F(PtxConvert, LimitedTo16Bits) {
  for (const std::string how : {"rn", "rz"}) {
    for (const std::string more : {"", ".relu", ".satfinite", ".relu.satfinite"}) {
      for (const std::string type : {"f16", "bf16"}) {
        const int e = type == "f16" ? 5 : 8, m = 15 - e;
        const auto narrowed_half = [=](uint64_t a) { return narrowed(a, how, more, e, m); };
        check("cvt." + how + more + "." + type + ".f32 %d, %a", {type, "f32"},
              [=](uint64_t a, uint64_t, uint64_t) { return narrowed_half(a); });
        check("cvt." + how + more + "." + type + "x2.f32 %d, %a, %b", {type + "x2", "f32", "f32"},
              [=](uint64_t a, uint64_t b, uint64_t) {
                return narrowed_half(a) << 16 | narrowed_half(b);
              });
      }
    }
  }
  // Numbers around the greatest number of each format.
  std::vector<uint64_t> sources[3];
  for (const uint64_t bits : {0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000,
                              0x7f7f0000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000}) {
    sources[0].push_back(bits);
    sources[0].push_back(bits | 0x80000000);
  }
  sources[1] = sources[2] = sources[0];
  for (const std::string how : {"rn", "rz"}) {
    check(
        "cvt." + how + ".satfinite.f16.f32 %d, %a", {"f16", "f32"},
        [=](uint64_t a, uint64_t, uint64_t) { return narrowed(a, how, "satfinite", 5, 10); },
        sources);
    check(
        "cvt." + how + ".satfinite.bf16.f32 %d, %a", {"bf16", "f32"},
        [=](uint64_t a, uint64_t, uint64_t) { return narrowed(a, how, "satfinite", 8, 7); },
        sources);
  }
}

TEST_F(PtxConvert, LimitedTensorFloats) {
  const auto limited = [](uint64_t bits) {
    return (bits & 0x7fffffff) == 0x7f800000 ? bits - 0x2000 : bits;
  };
  check("cvt.rna.satfinite.tf32.f32 %d, %a", {"b32", "f32"}, [=](uint64_t a, uint64_t, uint64_t) {
    return limited(tf32_bits(a, [](double x) { return std::round(x); }));
  });
  check("cvt.rn.relu.tf32.f32 %d, %a", {"b32", "f32"}, [](uint64_t a, uint64_t, uint64_t) {
    return f32(a) <= 0 ? 0 : tf32_bits(a, [](double x) { return std::nearbyint(x); });
  });
  check("cvt.rz.relu.tf32.f32 %d, %a", {"b32", "f32"}, [](uint64_t a, uint64_t, uint64_t) {
    return f32(a) <= 0 ? 0 : tf32_bits(a, [](double x) { return std::trunc(x); });
  });
}

TEST_F(PtxConvert, DirectedRoundingsToDouble) {
  for (const std::string how : {"rz", "rm", "rp"}) {
    for (const bool is_signed : {true, false}) {
      check("cvt." + how + ".f64." + (is_signed ? "s64" : "u64") + " %d, %a",
            {"f64", is_signed ? "s64" : "u64"}, [=](uint64_t a, uint64_t, uint64_t) {
              // The 64-bit mantissa of long double holds every 64-bit integer.
              const long double x = is_signed ? static_cast<long double>(static_cast<int64_t>(a))
                                              : static_cast<long double>(a);
              auto d = static_cast<double>(x);
              const bool down = how == "rm" || (how == "rz" && x > 0);
              if (down ? d > x : d < x) d = std::nextafter(d, down ? -INFINITY : INFINITY);
              uint64_t bits;
              std::memcpy(&bits, &d, sizeof(d));
              return bits;
            });
    }
  }
}

TEST_F(PtxConvert, ToIntegers) {
  const auto clamp = [](long double x, long double least, long double most) {
    return x != x ? 0 : x < least ? least : x > most ? most : x;
  };
  for (const char* how : {"rni", "rzi", "rmi", "rpi"}) {
    const auto integral = [how](long double x) {
      return how[1] == 'n'   ? std::nearbyint(x)
             : how[1] == 'z' ? std::trunc(x)
             : how[1] == 'm' ? std::floor(x)
                             : std::ceil(x);
    };
    const std::string cvt = std::string("cvt.") + how;
    check(cvt + ".s32.f32 %d, %a", {"s32", "f32"}, [&](uint64_t a, uint64_t, uint64_t) {
      return static_cast<uint64_t>(
          static_cast<int64_t>(clamp(integral(f32(a)), -2147483648.0L, 2147483647.0L)));
    });
    check(cvt + ".u32.f32 %d, %a", {"u32", "f32"}, [&](uint64_t a, uint64_t, uint64_t) {
      return static_cast<uint64_t>(clamp(integral(f32(a)), 0, 4294967295.0L));
    });
    check(cvt + ".u8.f32 %d, %a", {"u16", "f32"}, [&](uint64_t a, uint64_t, uint64_t) {
      return static_cast<uint64_t>(clamp(integral(f32(a)), 0, 255));
    });
    check(cvt + ".f32.f32 %d, %a", {"f32", "f32"}, [&](uint64_t a, uint64_t, uint64_t) {
      return bits(static_cast<float>(integral(f32(a))));
    });
    check_each(cvt + ".s16.f16 %d, %a", {"s16", "f16"}, [&](uint64_t a, uint64_t, uint64_t) {
      return static_cast<uint64_t>(static_cast<int64_t>(clamp(integral(f16(a)), -32768, 32767)));
    });
  }
}

TEST_F(PtxConvert, FromIntegers) {
  check("cvt.rn.f32.u64 %d, %a", {"f32", "u64"},
        [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(a)); });
  check("cvt.rn.f32.s64 %d, %a", {"f32", "s64"}, [](uint64_t a, uint64_t, uint64_t) {
    return bits(static_cast<float>(static_cast<int64_t>(a)));
  });
  check("cvt.rn.f32.s32 %d, %a", {"f32", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    return bits(static_cast<float>(static_cast<int32_t>(a)));
  });
  check("cvt.rz.f32.u32 %d, %a", {"f32", "u32"}, [](uint64_t a, uint64_t, uint64_t) {
    auto x = static_cast<float>(a);
    if (static_cast<double>(x) > static_cast<double>(a)) x = std::nextafter(x, 0.0f);
    return bits(x);
  });
  check_each("cvt.rn.f16.u16 %d, %a", {"f16", "u16"},
             [](uint64_t a, uint64_t, uint64_t) { return encoded(static_cast<double>(a), 5, 10); });
  check_each("cvt.rn.bf16.s16 %d, %a", {"bf16", "s16"}, [](uint64_t a, uint64_t, uint64_t) {
    return encoded(static_cast<double>(static_cast<int16_t>(a)), 8, 7);
  });
}

TEST_F(PtxConvert, BetweenIntegers) {
  check("cvt.u64.u32 %d, %a", {"u64", "u32"}, [](uint64_t a, uint64_t, uint64_t) { return a; });
  check("cvt.s64.s32 %d, %a", {"s64", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(static_cast<int32_t>(a));
  });
  check("cvt.u16.u64 %d, %a", {"u16", "u64"}, [](uint64_t a, uint64_t, uint64_t) { return a; });
  check("cvt.s32.s8 %d, %a", {"s32", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(static_cast<int8_t>(a));
  });
  check("cvt.u32.u8 %d, %a", {"u32", "u16"},
        [](uint64_t a, uint64_t, uint64_t) { return a & 255; });
  check("cvt.s16.s8 %d, %a", {"s16", "s16"}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(static_cast<int8_t>(a));
  });
  check("cvt.sat.u8.s32 %d, %a", {"u32", "s32"}, [](uint64_t a, uint64_t, uint64_t) {
    const auto x = static_cast<int32_t>(a);
    return static_cast<uint64_t>(x < 0 ? 0 : x > 255 ? 255 : x);
  });
}

TEST_F(PtxConvert, ArithmeticOf16Bits) {
  const auto check_format = [&](const std::string& type, int e, int m) {
    const auto value = [=](uint64_t x) { return decoded(x, e, m); };
    check("add." + type + " %d, %a, %b", {type, type, type},
          [=](uint64_t a, uint64_t b, uint64_t) { return encoded(value(a) + value(b), e, m); });
    check("sub." + type + " %d, %a, %b", {type, type, type},
          [=](uint64_t a, uint64_t b, uint64_t) { return encoded(value(a) - value(b), e, m); });
    check("mul." + type + " %d, %a, %b", {type, type, type},
          [=](uint64_t a, uint64_t b, uint64_t) { return encoded(value(a) * value(b), e, m); });
    check("neg." + type + " %d, %a", {type, type},
          [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x8000; });
    const std::string two = type + "x2";
    check("mul." + two + " %d, %a, %b", {two, two, two}, [=](uint64_t a, uint64_t b, uint64_t) {
      return encoded(value(a & 0xffff) * value(b & 0xffff), e, m) |
             encoded(value(a >> 16) * value(b >> 16), e, m) << 16;
    });
  };
  check_format("f16", 5, 10);
  check_format("bf16", 8, 7);
  // The reference computes in long double. The exact value of each of these sums fits into 64 bits
  // of mantissa, so the reference rounds only once.
  check("fma.rn.f16 %d, %a, %b, %c", {"f16", "f16", "f16", "f16"},
        [](uint64_t a, uint64_t b, uint64_t c) {
          return encoded(static_cast<long double>(f16(a)) * f16(b) + f16(c), 5, 10);
        });
  // .sat clamps to [0, 1]; a NaN becomes +0.
  const auto clamped = [](auto x) {
    using X = decltype(x);
    return x > 0 ? (x > 1 ? X{1} : x) : X{0};
  };
  const std::vector<std::string> types = {"f16", "f16", "f16", "f16"};
  const auto check_saturated = [&](const std::string& name, const auto& function) {
    const std::string operands = name == "fma.rn" ? " %d, %a, %b, %c" : " %d, %a, %b";
    const std::vector<std::string> taken(types.begin(), types.end() - (name == "fma.rn" ? 0 : 1));
    check(name + ".sat.f16" + operands, taken, [&](uint64_t a, uint64_t b, uint64_t c) {
      return encoded(clamped(function(f16(a), f16(b), f16(c))), 5, 10);
    });
    std::vector<std::string> pairs(taken.size(), "f16x2");
    check(name + ".sat.f16x2" + operands, pairs, [&](uint64_t a, uint64_t b, uint64_t c) {
      const auto half = [&](int by) {
        return encoded(
            clamped(function(f16(a >> by & 0xffff), f16(b >> by & 0xffff), f16(c >> by & 0xffff))),
            5, 10);
      };
      return half(0) | half(16) << 16;
    });
  };
  check_saturated("add", [](double a, double b, double) { return a + b; });
  check_saturated("sub", [](double a, double b, double) { return a - b; });
  check_saturated("mul", [](double a, double b, double) { return a * b; });
  check_saturated("fma.rn",
                  [](double a, double b, double c) { return static_cast<long double>(a) * b + c; });
  check("mul.bf16 %d, %a, %b", {"bf16", "bf16", "bf16"},
        [](uint64_t a, uint64_t b, uint64_t) { return encoded(bf16(a) * bf16(b), 8, 7); });
}

// Each sum is slightly less than the midpoint of two numbers. A first rounding to float, or to
// double for .bf16, would return the midpoint, which the second rounding would round up to the even
// number.
TEST_F(PtxConvert, FusedSumRoundsOnce) {
  const std::vector<uint64_t> halves[3] = {{0x4700}, {0x5c94}, {0x8001}};  // 7 * 293 - 2^-24
  EXPECT_EQ(run("fma.rn.f16 %d, %a, %b, %c", {"f16", "f16", "f16", "f16"}, halves)[0], 0x6801u);
  const std::vector<uint64_t> sources[3] = {{0x40e0}, {0x4214}, {0xa180}};  // 7 * 37 - 2^-60
  EXPECT_EQ(run("fma.rn.bf16 %d, %a, %b, %c", {"bf16", "bf16", "bf16", "bf16"}, sources)[0],
            0x4381u);
}

// Returns x after .ftz of .f16, which replaces a subnormal number by a zero of the same sign.
uint64_t flushed_half(uint64_t x) {
  const uint64_t half = x & 0xffff;
  return (half & 0x7c00) == 0 ? half & 0x8000 : half;
}

TEST_F(PtxConvert, FlushedHalves) {
  using Reference = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;
  const auto check_one = [&](const std::string& op, size_t sources, const Reference& reference) {
    const std::string operands = std::string(" %d, %a, %b, %c").substr(0, 3 + 4 * sources);
    const auto half_result = [=](uint64_t a, uint64_t b, uint64_t c) {
      return flushed_half(reference(flushed_half(a), flushed_half(b), flushed_half(c)));
    };
    check_once(op + ".f16" + operands, std::vector<std::string>(sources + 1, "f16"), half_result);
    check_once(op + ".f16x2" + operands, std::vector<std::string>(sources + 1, "f16x2"),
               [=](uint64_t a, uint64_t b, uint64_t c) {
                 return half_result(a, b, c) | half_result(a >> 16, b >> 16, c >> 16) << 16;
               });
  };
  const auto code = [](auto x) { return encoded(x, 5, 10); };
  const auto saturated = [](auto x) {
    return x > 0 ? std::min(x, decltype(x){1}) : decltype(x){0};
  };
  const auto sum = [](uint64_t a, uint64_t b, uint64_t) { return f16(a) + f16(b); };
  const auto difference = [](uint64_t a, uint64_t b, uint64_t) { return f16(a) - f16(b); };
  const auto product = [](uint64_t a, uint64_t b, uint64_t) { return f16(a) * f16(b); };
  const auto fused = [](uint64_t a, uint64_t b, uint64_t c) {
    return static_cast<long double>(f16(a)) * f16(b) + f16(c);
  };
  const auto check_both = [&](const std::string& op, size_t sources, const auto& work) {
    check_one(op + ".ftz", sources, [=](auto... x) { return code(work(x...)); });
    check_one(op + ".ftz.sat", sources, [=](auto... x) { return code(saturated(work(x...))); });
  };
  check_both("add", 2, sum);
  check_both("sub", 2, difference);
  check_both("mul", 2, product);
  check_both("fma.rn", 3, fused);
  check_one("fma.rn.ftz.relu", 3, [=](auto... x) {
    const uint64_t d = code(fused(x...));
    return d > 0x8000 ? 0 : d == 0x8000 ? 0 : d;
  });
  check_one("abs.ftz", 1, [](uint64_t a, uint64_t, uint64_t) { return a & 0x7fff; });
  check_one("neg.ftz", 1, [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x8000; });
  check_one("min.ftz", 2, [](uint64_t a, uint64_t b, uint64_t) -> uint64_t {
    if (f16(a) != f16(a)) return f16(b) != f16(b) ? 0x7fff : b;
    if (f16(b) != f16(b)) return a;
    return f16(a) < f16(b) || (f16(a) == f16(b) && (a & 0x8000) != 0) ? a : b;
  });
}

// .xorsign.abs compares the magnitudes of the sources; the result has the sign of their product.
TEST_F(PtxConvert, LeastAndGreatestMagnitudes) {
  for (const std::string type : {"f16", "bf16"}) {
    const int e = type == "f16" ? 5 : 8, m = 15 - e;
    const uint64_t infinity = ((uint64_t{1} << e) - 1) << m;
    for (const bool least : {true, false}) {
      for (const bool with_nan : {true, false}) {
        const std::string op =
            std::string(least ? "min" : "max") + (with_nan ? ".NaN" : "") + ".xorsign.abs.";
        const auto result_of_halves = [=](uint64_t a, uint64_t b) -> uint64_t {
          const uint64_t sign = (a ^ b) & 0x8000;
          uint64_t x = a & 0x7fff, y = b & 0x7fff;
          const bool is_nan = x > infinity, is_other = y > infinity;
          if ((is_nan && is_other) || (with_nan && (is_nan || is_other))) return 0x7fff;
          if (is_nan) x = y;
          if (is_other) y = x;
          return sign | (least ? std::min(x, y) : std::max(x, y));
        };
        check_once(op + type + " %d, %a, %b", {type, type, type},
                   [=](uint64_t a, uint64_t b, uint64_t) {
                     return result_of_halves(a & 0xffff, b & 0xffff);
                   });
        const std::string two = type + "x2";
        check_once(
            op + two + " %d, %a, %b", {two, two, two}, [=](uint64_t a, uint64_t b, uint64_t) {
              return result_of_halves(a & 0xffff, b & 0xffff) | result_of_halves(a >> 16, b >> 16)
                                                                    << 16;
            });
      }
    }
  }
}

TEST_F(PtxConvert, FlushedComparisons) {
  const struct {
    const char* name;
    bool less, equal, greater, unordered;
  } all[] = {{"eq", false, true, false, false},
             {"ltu", true, false, false, true},
             {"ge", false, true, true, false},
             {"nan", false, false, false, true}};
  for (const auto& row : all) {
    const auto holds = [=](uint64_t a, uint64_t b) -> uint64_t {
      const double x = f16(flushed_half(a)), y = f16(flushed_half(b));
      return x < y ? row.less : x == y ? row.equal : x > y ? row.greater : row.unordered;
    };
    const std::string how = std::string(row.name) + ".ftz.";
    check_once("setp." + how + "f16 %d, %a, %b", {"pred", "f16", "f16"},
               [=](uint64_t a, uint64_t b, uint64_t) { return holds(a, b); });
    check_once("{ .reg .pred p; setp." + how + "f16x2 p|%d, %a, %b; }", {"pred", "f16x2", "f16x2"},
               [=](uint64_t a, uint64_t b, uint64_t) { return holds(a >> 16, b >> 16); });
    check_once("set." + how + "f16.f16 %d, %a, %b", {"f16", "f16", "f16"},
               [=](uint64_t a, uint64_t b, uint64_t) { return 0x3c00 * holds(a, b); });
    check_once("set." + how + "f16x2.f16x2 %d, %a, %b", {"f16x2", "f16x2", "f16x2"},
               [=](uint64_t a, uint64_t b, uint64_t) {
                 return 0x3c00 * (holds(a, b) | holds(a >> 16, b >> 16) << 16);
               });
    check_once("set." + how + "u32.f16x2 %d, %a, %b", {"u32", "f16x2", "f16x2"},
               [=](uint64_t a, uint64_t b, uint64_t) {
                 return 0xffff * (holds(a, b) | holds(a >> 16, b >> 16) << 16);
               });
  }
}

}  // namespace
}  // namespace kernkit::simulator
