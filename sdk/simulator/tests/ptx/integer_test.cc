// SPDX-License-Identifier: Apache-2.0
// Instructions on integers and bits, against the definitions of PTX ISA.
#include <algorithm>
#include <climits>
#include <cstdlib>

#include "instructions.h"

namespace kernkit::simulator {
namespace {

__extension__ using Int128 = __int128;

int64_t extended(uint64_t x, unsigned bits) {
  return static_cast<int64_t>(x << (64 - bits)) >> (64 - bits);
}

class PtxInteger : public Instruction {
 protected:
  // Checks the instruction for each width and signedness. The reference receives sources that are
  // sign-extended or zero-extended.
  void check_all(
      const std::string& op, const std::vector<unsigned>& widths,
      const std::function<Int128(Int128 a, Int128 b, Int128 c, unsigned bits)>& reference,
      int sources = 2, unsigned factor = 1) {
    for (const unsigned bits : widths) {
      for (const bool is_signed : {false, true}) {
        const std::string type = (is_signed ? "s" : "u") + std::to_string(bits);
        const std::string wide = (is_signed ? "s" : "u") + std::to_string(factor * bits);
        std::vector<std::string> types = {wide, type};
        std::string text = op + "." + type + " %d, %a";
        if (sources > 1) {
          text += ", %b";
          types.push_back(type);
        }
        if (sources > 2) {
          text += ", %c";
          types.push_back(wide);
        }
        check(text, types, [&](uint64_t a, uint64_t b, uint64_t c) {
          const auto value = [&](uint64_t x, unsigned width) -> Int128 {
            return is_signed ? Int128{extended(x, width)} : static_cast<Int128>(x);
          };
          return static_cast<uint64_t>(
              reference(value(a, bits), value(b, bits), value(c, factor * bits), bits));
        });
      }
    }
  }
};

TEST_F(PtxInteger, Arithmetic) {
  const std::vector<unsigned> all = {16, 32, 64};
  check_all("add", all, [](Int128 a, Int128 b, Int128, unsigned) { return a + b; });
  check_all("sub", all, [](Int128 a, Int128 b, Int128, unsigned) { return a - b; });
  check_all("mul.lo", all,
            [](Int128 a, Int128 b, Int128, unsigned) { return Int128(uint64_t(a) * uint64_t(b)); });
  check_all("mul.hi", {16, 32}, [](Int128 a, Int128 b, Int128, unsigned n) { return a * b >> n; });
  check_all(
      "mul.wide", {16, 32}, [](Int128 a, Int128 b, Int128, unsigned) { return a * b; }, 2, 2);
  check_all(
      "mad.lo", all,
      [](Int128 a, Int128 b, Int128 c, unsigned) {
        return Int128(uint64_t(a) * uint64_t(b) + uint64_t(c));
      },
      3);
  check_all(
      "mad.hi", {16, 32}, [](Int128 a, Int128 b, Int128 c, unsigned n) { return (a * b >> n) + c; },
      3);
  check_all(
      "mad.wide", {16, 32}, [](Int128 a, Int128 b, Int128 c, unsigned) { return a * b + c; }, 3, 2);
  check_all("min", all, [](Int128 a, Int128 b, Int128, unsigned) { return a < b ? a : b; });
  check_all("max", all, [](Int128 a, Int128 b, Int128, unsigned) { return a > b ? a : b; });
  check_all("div", all, [](Int128 a, Int128 b, Int128, unsigned) { return b == 0 ? -1 : a / b; });
  check_all("rem", all, [](Int128 a, Int128 b, Int128, unsigned) { return b == 0 ? a : a % b; });
  const auto saturated = [](int64_t x) {
    return static_cast<uint64_t>(x > INT_MAX ? INT_MAX : x < INT_MIN ? INT_MIN : x);
  };
  check("add.sat.s32 %d, %a, %b", {"s32", "s32", "s32"}, [&](uint64_t a, uint64_t b, uint64_t) {
    return saturated(extended(a, 32) + extended(b, 32));
  });
  check("sub.sat.s32 %d, %a, %b", {"s32", "s32", "s32"}, [&](uint64_t a, uint64_t b, uint64_t) {
    return saturated(extended(a, 32) - extended(b, 32));
  });
  check("mul.hi.u64 %d, %a, %b", {"u64", "u64", "u64"}, [](uint64_t a, uint64_t b, uint64_t) {
    const uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
    const uint64_t middle = ah * bl + (al * bl >> 32), low_sum = al * bh + (middle & 0xffffffff);
    return ah * bh + (middle >> 32) + (low_sum >> 32);
  });
  for (const char* n : {"16", "32", "64"}) {
    const std::string s = std::string("s") + n;
    check("neg." + s + " %d, %a", {s, s}, [](uint64_t a, uint64_t, uint64_t) { return 0 - a; });
    const unsigned bits = width_of(s);
    check("abs." + s + " %d, %a", {s, s}, [bits](uint64_t a, uint64_t, uint64_t) {
      return (a >> (bits - 1) & 1) != 0 ? 0 - a : a;
    });
  }
}

TEST_F(PtxInteger, SumsOfPairs) {
  for (const char* op : {"add.u16x2", "add.s16x2"}) {
    check(op + std::string(" %d, %a, %b"), {"u32", "u32", "u32"},
          [](uint64_t a, uint64_t b, uint64_t) {
            return ((a & 0xffff) + (b & 0xffff)) % 0x10000 +
                   ((a >> 16) + (b >> 16)) % 0x10000 * 0x10000;
          });
  }
}

TEST_F(PtxInteger, MinimaAndMaximaOfPairsAndAboveZero) {
  const auto check_pairs = [&](const std::string& op, bool is_signed, bool is_max, int64_t least) {
    check(op + " %d, %a, %b", {"u32", "u32", "u32"}, [&](uint64_t a, uint64_t b, uint64_t) {
      uint64_t result = 0;
      for (unsigned shift : {0u, 16u}) {
        const auto half = [&](uint64_t x) {
          const uint64_t bits = x >> shift & 0xffff;
          return is_signed ? extended(bits, 16) : static_cast<int64_t>(bits);
        };
        const int64_t chosen = is_max ? std::max(half(a), half(b)) : std::min(half(a), half(b));
        result |= (static_cast<uint64_t>(std::max(chosen, least)) & 0xffff) << shift;
      }
      return result;
    });
  };
  for (const bool is_max : {false, true}) {
    const std::string op = is_max ? "max" : "min";
    check_pairs(op + ".u16x2", false, is_max, 0);
    check_pairs(op + ".s16x2", true, is_max, INT16_MIN);
    check_pairs(op + ".relu.s16x2", true, is_max, 0);
    check(op + ".relu.s32 %d, %a, %b", {"u32", "u32", "u32"},
          [&](uint64_t a, uint64_t b, uint64_t) {
            const int64_t x = extended(a, 32), y = extended(b, 32);
            return static_cast<uint64_t>(
                std::max<int64_t>(is_max ? std::max(x, y) : std::min(x, y), 0));
          });
  }
}

TEST_F(PtxInteger, Carries) {
  const std::vector<std::string> types = {"u32", "u32", "u32", "u32"};
  check("{ .reg .b32 x; add.cc.u32 x, %a, %b; addc.u32 %d, %c, 0; }", types,
        [](uint64_t a, uint64_t b, uint64_t c) { return ((a + b) >> 32) + c; });
  check("{ .reg .b32 x; add.cc.s32 x, %a, %b; addc.cc.s32 x, %b, %c; addc.s32 %d, 0, 0; }", types,
        [](uint64_t a, uint64_t b, uint64_t c) { return (b + c + ((a + b) >> 32)) >> 32; });
  check("{ .reg .b32 x; sub.cc.u32 x, %a, %b; subc.cc.u32 x, %b, %c; subc.u32 %d, 0, 0; }", types,
        [](uint64_t a, uint64_t b, uint64_t c) { return (b - c - (a < b ? 1 : 0)) >> 32; });
  check("{ .reg .b32 x; mad.lo.cc.u32 x, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0; }", types,
        [](uint64_t a, uint64_t b, uint64_t c) { return (a * b + c) >> 32; });
  check("{ .reg .b32 x; mad.hi.cc.u32 x, %a, %b, %c; madc.lo.cc.u32 %d, %a, %b, 7; }", types,
        [](uint64_t a, uint64_t b, uint64_t c) { return a * b + 7 + (((a * b >> 32) + c) >> 32); });
  check("{ .reg .b32 x; mad.lo.cc.s32 x, %a, %b, 0; madc.hi.s32 %d, %a, %b, %c; }",
        {"s32", "s32", "s32", "s32"}, [](uint64_t a, uint64_t b, uint64_t c) {
          return static_cast<uint64_t>(extended(a, 32) * extended(b, 32) >> 32) + c;
        });
  const std::vector<std::string> longs = {"u64", "u64", "u64", "u64"};
  check("{ .reg .b64 x; add.cc.u64 x, %a, %b; addc.u64 %d, %c, %c; }", longs,
        [](uint64_t a, uint64_t b, uint64_t c) {
          return static_cast<uint64_t>((Int128{a} + b) >> 64) + 2 * c;
        });
  check("{ .reg .b64 x; sub.cc.s64 x, %a, %b; subc.s64 %d, %c, %a; }", longs,
        [](uint64_t a, uint64_t b, uint64_t c) { return c - a - (a < b ? 1 : 0); });
}

// Tests of the carry flag for one type: each instruction that sets the flag, followed by each
// instruction that reads the flag.
class CarriesOf : public PtxInteger, public ::testing::WithParamInterface<const char*> {
 protected:
  __extension__ using Wide = unsigned __int128;
  struct Step {
    const char* name;
    bool multiplies;
    // `terms` returns the sum of the operands without the carry. `first` is the carry that the
    // instruction adds if it does not read the carry flag: 1 for sub, which adds the complement of
    // b; otherwise 0.
    Wide (*terms)(Wide product, Wide a, Wide b, Wide all, unsigned bits);
    Wide first;
  };
  static constexpr Step kSteps[] = {
      {"add", false, [](Wide, Wide a, Wide b, Wide, unsigned) { return a + b; }, 0},
      {"sub", false, [](Wide, Wide a, Wide b, Wide all, unsigned) { return a + (b ^ all); }, 1},
      {"mad.lo", true,
       [](Wide product, Wide, Wide b, Wide all, unsigned) { return (product & all) + b; }, 0},
      {"mad.hi", true,
       [](Wide product, Wide, Wide b, Wide all, unsigned n) { return (product >> n & all) + b; },
       0},
  };

  std::string type_ = GetParam();
  unsigned bits_ = width_of(type_);
  Wide all_ = (Wide{1} << bits_) - 1;

  // Returns the result of a step with the operands p and q, and r if the step multiplies, plus the
  // carry.
  Wide sum(const Step& step, uint64_t p, uint64_t q, uint64_t r, Wide carry) const {
    const Wide product = type_[0] == 's'
                             ? static_cast<Wide>(Int128{extended(p, bits_)} * extended(q, bits_))
                             : Wide{p} * q;
    return step.terms(product, p, step.multiplies ? r : q, all_, bits_) + carry;
  }
  // Returns the statement of a step, such as "addc.cc.u32 x, p, q;".
  std::string text(const Step& step, bool takes, bool gives, const std::string& to,
                   const std::string& p, const std::string& q, const std::string& r) const {
    std::string name = step.name;
    if (takes) name.insert(3, "c");
    return name + (gives ? ".cc." : ".") + type_ + " " + to + ", " + p + ", " + q +
           (step.multiplies ? ", " + r : "") + "; ";
  }
};

TEST_P(CarriesOf, AllMixtures) {
  // Only a few values, so that all combinations of equal values, 0 and all ones occur.
  const std::vector<uint64_t> numbers = {0,
                                         1,
                                         2,
                                         ~uint64_t{0},
                                         ~uint64_t{1},
                                         uint64_t{1} << 63,
                                         uint64_t{1} << 31,
                                         0x123456789abcdef0,
                                         0xfedcba9876543210};
  std::vector<uint64_t> sources[3];
  for (size_t i = 0; i < numbers.size() * numbers.size() * numbers.size(); ++i) {
    sources[0].push_back(numbers[i % numbers.size()]);
    sources[1].push_back(numbers[i / numbers.size() % numbers.size()]);
    sources[2].push_back(numbers[i / numbers.size() / numbers.size()]);
  }
  const std::vector<std::string> types(4, type_);
  const std::string before = "{ .reg .b" + std::to_string(bits_) + " x; ";
  for (const Step& first : kSteps) {
    for (const Step& last : kSteps) {
      const std::string begin = before + text(first, false, true, "x", "%a", "%b", "%c");
      const std::string end = text(last, true, false, "%d", "%b", "%c", "%a") + "}";
      const auto carry = [&](uint64_t a, uint64_t b, uint64_t c) {
        return sum(first, a, b, c, first.first) >> bits_;
      };
      check(
          begin + end, types,
          [&](uint64_t a, uint64_t b, uint64_t c) {
            return static_cast<uint64_t>(sum(last, b, c, a, carry(a, b, c)));
          },
          sources);
      for (const Step& middle : kSteps) {
        check(
            begin + text(middle, true, true, "x", "%c", "%b", "%a") + end, types,
            [&](uint64_t a, uint64_t b, uint64_t c) {
              const Wide next = sum(middle, c, b, a, carry(a, b, c)) >> bits_;
              return static_cast<uint64_t>(sum(last, b, c, a, next));
            },
            sources);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(EachType, CarriesOf, ::testing::Values("u32", "s32", "u64", "s64"));

TEST_F(PtxInteger, Of24Bits) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s32" : "u32";
    const auto product = [=](uint64_t a, uint64_t b) {
      return is_signed ? extended(a, 24) * extended(b, 24)
                       : static_cast<int64_t>((a & 0xffffff) * (b & 0xffffff));
    };
    for (const int shift : {0, 16}) {
      const std::string part = shift == 0 ? ".lo." : ".hi.";
      check("mul24" + part + type + " %d, %a, %b", {type, type, type},
            [=](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return product(a, b) >> shift; });
      check("mad24" + part + type + " %d, %a, %b, %c", {type, type, type, type},
            [=](uint64_t a, uint64_t b, uint64_t c) { return (product(a, b) >> shift) + c; });
    }
  }
  check("mad24.hi.sat.s32 %d, %a, %b, %c", {"s32", "s32", "s32", "s32"},
        [](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
          const int64_t sum = (extended(a, 24) * extended(b, 24) >> 16) + extended(c, 32);
          return std::min<int64_t>(std::max<int64_t>(sum, INT_MIN), INT_MAX);
        });
}

TEST_F(PtxInteger, SumsOfParts) {
  check_all(
      "sad", {16, 32, 64},
      [](Int128 a, Int128 b, Int128 c, unsigned) { return c + (a < b ? b - a : a - b); }, 3);
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types =
          std::string(a_signed ? "s32" : "u32") + (b_signed ? ".s32" : ".u32") + " %d, %a, %b, %c";
      const auto part = [](uint64_t x, unsigned at, unsigned bits, bool is_signed) {
        const uint64_t low = x >> at & ((1u << bits) - 1);
        return is_signed ? extended(low, bits) : static_cast<int64_t>(low);
      };
      check("dp4a." + types, {"u32", "u32", "u32", "u32"}, [=](uint64_t a, uint64_t b, uint64_t c) {
        for (unsigned at = 0; at < 32; at += 8) {
          c += static_cast<uint64_t>(part(a, at, 8, a_signed) * part(b, at, 8, b_signed));
        }
        return c;
      });
      for (const unsigned from : {0u, 16u}) {
        check((from == 0 ? "dp2a.lo." : "dp2a.hi.") + types, {"u32", "u32", "u32", "u32"},
              [=](uint64_t a, uint64_t b, uint64_t c) {
                c += static_cast<uint64_t>(part(a, 0, 16, a_signed) * part(b, from, 8, b_signed));
                c += static_cast<uint64_t>(part(a, 16, 16, a_signed) *
                                           part(b, from + 8, 8, b_signed));
                return c;
              });
      }
    }
  }
}

// The reference follows the pseudocode of fns in PTX ISA.
TEST_F(PtxInteger, NthSetBit) {
  check(
      "{ .reg .b32 base, off; and.b32 base, %b, 31; bfe.s32 off, %c, 0, 6; "
      "fns.b32 %d, %a, base, off; }",
      {"b32", "b32", "b32", "b32"}, [](uint64_t mask, uint64_t b, uint64_t c) -> uint64_t {
        const int base = static_cast<int>(b & 31), offset = static_cast<int>(extended(c & 63, 6));
        if (offset == 0) return (mask >> base & 1) != 0 ? base : UINT32_MAX;
        int position = base, count = std::abs(offset) - 1;
        while (position >= 0 && position < 32) {
          if ((mask >> position & 1) != 0 && count-- == 0) return position;
          position += offset > 0 ? 1 : -1;
        }
        return UINT32_MAX;
      });
}

TEST_F(PtxInteger, ChoicesBySign) {
  const auto by_sign = [](uint64_t a, uint64_t b, uint64_t c) {
    return extended(c, 32) >= 0 ? a : b;
  };
  for (const std::string w : {"16", "32", "64"}) {
    check("slct.b" + w + ".s32 %d, %a, %b, %c", {"b" + w, "b" + w, "b" + w, "s32"}, by_sign);
  }
  for (const bool flushes : {false, true}) {
    check(std::string(flushes ? "slct.ftz" : "slct") + ".u64.f32 %d, %a, %b, %c",
          {"b64", "b64", "b64", "b32"}, [flushes](uint64_t a, uint64_t b, uint64_t c) {
            const uint64_t magnitude = c & 0x7fffffff;
            if (magnitude > 0x7f800000) return b;  // a NaN
            return magnitude < (flushes ? 0x00800000 : 1) || c == magnitude ? a : b;
          });
  }
  const auto kind_of = [](const std::string& kind, uint64_t exponent, uint64_t fraction,
                          uint64_t most) -> uint64_t {
    const bool is_nan = exponent == most && fraction != 0;
    const bool is_infinite = exponent == most && fraction == 0;
    const bool is_subnormal = exponent == 0 && fraction != 0;
    if (kind == "finite") return exponent != most;
    if (kind == "infinite") return is_infinite;
    if (kind == "number") return !is_nan;
    if (kind == "notanumber") return is_nan;
    return kind == "normal" ? !is_nan && !is_infinite && !is_subnormal : is_subnormal;
  };
  for (const std::string kind :
       {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    check("testp." + kind + ".f32 %d, %a", {"pred", "b32"}, [&](uint64_t a, uint64_t, uint64_t) {
      return kind_of(kind, a >> 23 & 255, a & 0x7fffff, 255);
    });
    check("testp." + kind + ".f64 %d, %a", {"pred", "b64"}, [&](uint64_t a, uint64_t, uint64_t) {
      return kind_of(kind, a >> 52 & 2047, a & 0xfffffffffffff, 2047);
    });
  }
}

TEST_F(PtxInteger, Logic) {
  for (const char* n : {"16", "32", "64"}) {
    const std::string b = std::string("b") + n;
    check("and." + b + " %d, %a, %b", {b, b, b},
          [](uint64_t x, uint64_t y, uint64_t) { return x & y; });
    check("or." + b + " %d, %a, %b", {b, b, b},
          [](uint64_t x, uint64_t y, uint64_t) { return x | y; });
    check("xor." + b + " %d, %a, %b", {b, b, b},
          [](uint64_t x, uint64_t y, uint64_t) { return x ^ y; });
    check("not." + b + " %d, %a", {b, b}, [](uint64_t x, uint64_t, uint64_t) { return ~x; });
    check("cnot." + b + " %d, %a", {b, b}, [](uint64_t x, uint64_t, uint64_t) { return x == 0; });
  }
  for (const int table : {0x80, 0x96, 0xe8, 0x1b, 0xff}) {
    check("lop3.b32 %d, %a, %b, %c, " + std::to_string(table), {"b32", "b32", "b32", "b32"},
          [table](uint64_t a, uint64_t b, uint64_t c) {
            uint64_t d = 0;
            for (int i = 0; i < 32; ++i) {
              const uint64_t at = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
              d |= uint64_t(table >> at & 1) << i;
            }
            return d;
          });
  }
}

TEST_F(PtxInteger, Shifts) {
  for (const unsigned n : {16u, 32u, 64u}) {
    const std::string w = std::to_string(n);
    check("shl.b" + w + " %d, %a, %b", {"b" + w, "b" + w, "u32"},
          [n](uint64_t a, uint64_t b, uint64_t) { return b >= n ? 0 : a << b; });
    check("shr.u" + w + " %d, %a, %b", {"u" + w, "u" + w, "u32"},
          [n](uint64_t a, uint64_t b, uint64_t) { return b >= n ? 0 : a >> b; });
    check("shr.s" + w + " %d, %a, %b", {"s" + w, "s" + w, "u32"},
          [n](uint64_t a, uint64_t b, uint64_t) {
            return static_cast<uint64_t>(extended(a, n) >> (b >= n ? n - 1 : b));
          });
  }
  const auto both = [](uint64_t a, uint64_t b) { return b << 32 | a; };
  check("shf.l.wrap.b32 %d, %a, %b, %c", {"b32", "b32", "b32", "b32"},
        [&](uint64_t a, uint64_t b, uint64_t c) { return both(a, b) << (c & 31) >> 32; });
  check("shf.r.wrap.b32 %d, %a, %b, %c", {"b32", "b32", "b32", "b32"},
        [&](uint64_t a, uint64_t b, uint64_t c) { return both(a, b) >> (c & 31); });
  check("shf.l.clamp.b32 %d, %a, %b, %c", {"b32", "b32", "b32", "b32"},
        [&](uint64_t a, uint64_t b, uint64_t c) { return c >= 32 ? a : both(a, b) << c >> 32; });
  check("shf.r.clamp.b32 %d, %a, %b, %c", {"b32", "b32", "b32", "b32"},
        [&](uint64_t a, uint64_t b, uint64_t c) { return c >= 32 ? b : both(a, b) >> c; });
}

// Returns the result of bfe, computed bit by bit like the pseudocode in PTX ISA.
uint64_t bfe(uint64_t a, uint64_t b, uint64_t c, int bits, bool is_signed) {
  const int msb = bits - 1, pos = static_cast<int>(b & 255), len = static_cast<int>(c & 255);
  const int last = pos + len - 1 < msb ? pos + len - 1 : msb;
  const uint64_t sign = !is_signed || len == 0 ? 0 : a >> last & 1;
  uint64_t d = 0;
  for (int i = 0; i <= msb; ++i) d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign) << i;
  return d;
}
uint64_t bfi(uint64_t a, uint64_t b, uint64_t c, int bits, int len) {
  const int pos = static_cast<int>(c & 255);
  uint64_t f = b;
  for (int i = 0; i < len && pos + i < bits; ++i) {
    const uint64_t bit = uint64_t{1} << (pos + i);
    f = (a >> i & 1) != 0 ? f | bit : f & ~bit;
  }
  return f;
}

TEST_F(PtxInteger, Fields) {
  for (const int n : {32, 64}) {
    const std::string w = std::to_string(n);
    check("bfe.u" + w + " %d, %a, %b, %c", {"u" + w, "u" + w, "u32", "u32"},
          [n](uint64_t a, uint64_t b, uint64_t c) { return bfe(a, b, c, n, false); });
    check("bfe.s" + w + " %d, %a, %b, %c", {"s" + w, "s" + w, "u32", "u32"},
          [n](uint64_t a, uint64_t b, uint64_t c) { return bfe(a, b, c, n, true); });
    for (const int length : {0, 1, 9, 31, 64}) {
      check("bfi.b" + w + " %d, %a, %b, %c, " + std::to_string(length),
            {"b" + w, "b" + w, "b" + w, "u32"},
            [=](uint64_t a, uint64_t b, uint64_t c) { return bfi(a, b, c, n, length); });
    }
    check("popc.b" + w + " %d, %a", {"u32", "b" + w}, [](uint64_t a, uint64_t, uint64_t) {
      uint64_t count = 0;
      for (; a != 0; a >>= 1) count += a & 1;
      return count;
    });
    check("clz.b" + w + " %d, %a", {"u32", "b" + w}, [n](uint64_t a, uint64_t, uint64_t) {
      uint64_t count = 0;
      for (int i = n - 1; i >= 0 && (a >> i & 1) == 0; --i) ++count;
      return count;
    });
    check("brev.b" + w + " %d, %a", {"b" + w, "b" + w}, [n](uint64_t a, uint64_t, uint64_t) {
      uint64_t d = 0;
      for (int i = 0; i < n; ++i) d |= (a >> i & 1) << (n - 1 - i);
      return d;
    });
    for (const bool is_signed : {false, true}) {
      for (const bool amount : {false, true}) {
        const std::string type = (is_signed ? "s" : "u") + w;
        check("bfind" + std::string(amount ? ".shiftamt." : ".") + type + " %d, %a", {"u32", type},
              [=](uint64_t a, uint64_t, uint64_t) {
                if (is_signed && (a >> (n - 1) & 1) != 0) a = ~a & (~uint64_t{0} >> (64 - n));
                int d = -1;
                for (int i = n - 1; i >= 0 && d < 0; --i) d = (a >> i & 1) != 0 ? i : -1;
                return static_cast<uint64_t>(amount && d >= 0 ? n - 1 - d : d);
              });
      }
    }
  }
  check("prmt.b32 %d, %a, %b, %c", {"b32", "b32", "b32", "b32"},
        [](uint64_t a, uint64_t b, uint64_t c) {
          unsigned char bytes[8];
          for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>((b << 32 | a) >> 8 * i);
          uint64_t d = 0;
          for (int i = 0; i < 4; ++i) {
            const unsigned char byte = bytes[c >> 4 * i & 7];
            d |= uint64_t((c >> 4 * i & 8) == 0 ? byte : byte >= 128 ? 255 : 0) << 8 * i;
          }
          return d;
        });
  check("bmsk.clamp.b32 %d, %a, %b", {"b32", "u32", "u32"}, [](uint64_t a, uint64_t b, uint64_t) {
    uint64_t d = 0;
    for (uint64_t i = a; i < 32 && i - a < b; ++i) d |= uint64_t{1} << i;
    return d;
  });
}

TEST_F(PtxInteger, Comparisons) {
  for (const unsigned n : {16u, 32u, 64u}) {
    const std::string w = std::to_string(n);
    const auto check_one = [&](const std::string& how,
                               const std::function<bool(int64_t, int64_t)>& s,
                               const std::function<bool(uint64_t, uint64_t)>& u) {
      check("setp." + how + ".s" + w + " %d, %a, %b", {"pred", "s" + w, "s" + w},
            [&](uint64_t a, uint64_t b, uint64_t) { return s(extended(a, n), extended(b, n)); });
      check("setp." + how + ".u" + w + " %d, %a, %b", {"pred", "u" + w, "u" + w},
            [&](uint64_t a, uint64_t b, uint64_t) { return u(a, b); });
    };
    check_one("eq", std::equal_to<>(), std::equal_to<>());
    check_one("ne", std::not_equal_to<>(), std::not_equal_to<>());
    check_one("lt", std::less<>(), std::less<>());
    check_one("le", std::less_equal<>(), std::less_equal<>());
    check_one("gt", std::greater<>(), std::greater<>());
    check_one("ge", std::greater_equal<>(), std::greater_equal<>());
  }
  check("{ .reg .pred q; setp.gt.u32 q, %c, 100; setp.lt.and.s32 %d, %a, %b, !q; }",
        {"pred", "s32", "s32", "u32"}, [](uint64_t a, uint64_t b, uint64_t c) {
          return extended(a, 32) < extended(b, 32) && !(c > 100);
        });
  check("{ .reg .pred q; setp.lt.s32 q|%d, %a, %b; }", {"pred", "s32", "s32"},
        [](uint64_t a, uint64_t b, uint64_t) { return extended(a, 32) >= extended(b, 32); });
  check("{ .reg .pred q; setp.hi.u32 q, %a, %b; selp.b64 %d, %c, 5, q; }",
        {"b64", "u32", "u32", "b64"},
        [](uint64_t a, uint64_t b, uint64_t c) { return a > b ? c : 5; });
  check("set.lt.u32.s32 %d, %a, %b", {"u32", "s32", "s32"}, [](uint64_t a, uint64_t b, uint64_t) {
    return extended(a, 32) < extended(b, 32) ? ~uint64_t{0} : 0;
  });
}

TEST_F(PtxInteger, Moves) {
  check("mov.b64 %d, {%a, %b}", {"b64", "b32", "b32"},
        [](uint64_t a, uint64_t b, uint64_t) { return b << 32 | a; });
  const std::string bytes = "{\n.reg .b8 p, q, r;\ncvt.u8.u32 p, %a;\ncvt.u8.u32 q, %b;\n";
  check(bytes + "mov.b16 %d, {p, q};\n}", {"b16", "u32", "u32"},
        [](uint64_t a, uint64_t b, uint64_t) { return (a & 255) | (b & 255) << 8; });
  check(bytes + "mov.b32 %d, {q, p, 0, q};\n}", {"b32", "u32", "u32"},
        [](uint64_t a, uint64_t b, uint64_t) {
          return (b & 255) | (a & 255) << 8 | (b & 255) << 24;
        });
  check(bytes + "mov.b32 {r, _, p, q}, %a;\nmov.b32 %d, {p, q, r, r};\n}", {"b32", "u32", "u32"},
        [](uint64_t a, uint64_t, uint64_t) {
          return (a >> 16 & 255) | (a >> 24 & 255) << 8 | (a & 255) * 0x1010000;
        });
  check("mov.b32 %d, {%a, %b}", {"b32", "b16", "b16"},
        [](uint64_t a, uint64_t b, uint64_t) { return b << 16 | a; });
  check("{ .reg .b32 x; mov.b64 {x, %d}, %a; }", {"b32", "b64"},
        [](uint64_t a, uint64_t, uint64_t) { return a >> 32; });
  check("{ .reg .b16 x; mov.b32 {_, x}, %a; mov.b16 %d, x; }", {"b16", "b32"},
        [](uint64_t a, uint64_t, uint64_t) { return a >> 16; });
}

// The modes of prmt, byte by byte as in the table of PTX ISA. Each of the four strings is for a
// selector, 0 to 3. Its digits are the numbers of the source bytes, from the highest to the lowest
// byte of the result.
TEST_F(PtxInteger, ModesOfPrmt) {
  const struct {
    const char *mode, *bytes[4];
  } all[] = {{"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
             {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
             {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& row : all) {
    check(std::string("prmt.b32.") + row.mode + " %d, %a, %b, %c", {"b32", "b32", "b32", "b32"},
          [&](uint64_t a, uint64_t b, uint64_t c) {
            uint64_t d = 0;
            for (int i = 0; i < 4; ++i) {
              d = d << 8 | ((b << 32 | a) >> 8 * (row.bytes[c & 3][i] - '0') & 255);
            }
            return d;
          });
  }
}

// The result predicate is whether any bit of the result is set, combined with a source predicate by
// .and or .or.
TEST_F(PtxInteger, Lop3WithPredicate) {
  const std::string before = "{ .reg .b32 r; .reg .pred p, q; setp.gt.u32 q, %c, 1000; ";
  check(before + "lop3.or.b32 r|%d, %a, %b, %c, 0x80, q; }", {"pred", "b32", "b32", "b32"},
        [](uint64_t a, uint64_t b, uint64_t c) { return (a & b & c) != 0 || c > 1000; });
  check(before + "lop3.and.b32 _|%d, %a, %b, %c, 0x96, !q; }", {"pred", "b32", "b32", "b32"},
        [](uint64_t a, uint64_t b, uint64_t c) { return (a ^ b ^ c) != 0 && !(c > 1000); });
  check(before + "lop3.and.b32 %d|p, %a, %b, %c, 0xe8, q; }", {"b32", "b32", "b32", "b32"},
        [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | (a & c) | (b & c); });
}

TEST_F(PtxInteger, ExtendedFields) {
  for (const bool clamps : {true, false}) {
    for (const bool is_signed : {true, false}) {
      check(std::string("szext.") + (clamps ? "clamp" : "wrap") + (is_signed ? ".s32" : ".u32") +
                " %d, %a, %b",
            {"b32", "b32", "b32"}, [=](uint64_t a, uint64_t b, uint64_t) {
              const unsigned bits = clamps && b > 31 ? 32 : b & 31;
              if (bits == 0) return uint64_t{0};
              const uint64_t field = a & (~uint64_t{0} >> (64 - bits));
              return is_signed ? static_cast<uint64_t>(extended(field, bits)) : field;
            });
    }
  }
}

// cvt.pack: from the lowest bits upwards, the result has b clamped, a clamped, and the lower bits
// of c.
TEST_F(PtxInteger, PackedConversions) {
  const auto clamped = [](uint64_t x, unsigned bits, bool is_signed) {
    const int64_t most = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t least = is_signed ? -most - 1 : 0;
    const int64_t value = std::min(std::max<int64_t>(extended(x, 32), least), most);
    return static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  };
  for (const bool is_signed : {true, false}) {
    for (const unsigned bits : {16u, 8u, 4u, 2u}) {
      const std::string type = (is_signed ? "s" : "u") + std::to_string(bits);
      const auto packed = [=](uint64_t a, uint64_t b, uint64_t c) {
        const uint64_t two = clamped(a, bits, is_signed) << bits | clamped(b, bits, is_signed);
        return bits == 16 ? two : c << 2 * bits | two;
      };
      if (bits == 16) {
        check("cvt.pack.sat." + type + ".s32 %d, %a, %b", {"b32", "s32", "s32"}, packed);
      } else {
        check("cvt.pack.sat." + type + ".s32.b32 %d, %a, %b, %c", {"b32", "s32", "s32", "b32"},
              packed);
      }
    }
  }
}

TEST_F(PtxInteger, SaturatedHighProducts) {
  check("{ .reg .b32 x; add.cc.u32 x, %a, %b; madc.hi.sat.s32 %d, %a, %b, %c; }",
        {"s32", "s32", "s32", "s32"}, [](uint64_t a, uint64_t b, uint64_t c) {
          const int64_t sum =
              (extended(a, 32) * extended(b, 32) >> 32) + extended(c, 32) + (a + b > UINT32_MAX);
          return static_cast<uint64_t>(
              std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
        });
  check("mad.hi.sat.s32 %d, %a, %b, %c", {"s32", "s32", "s32", "s32"},
        [](uint64_t a, uint64_t b, uint64_t c) {
          const int64_t sum = (extended(a, 32) * extended(b, 32) >> 32) + extended(c, 32);
          return static_cast<uint64_t>(
              std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
        });
}

// Instructions on two or four numbers in a register. The third source is added to the sum of the
// results.
TEST_F(PtxInteger, VideoInstructions) {
  const struct {
    const char* name;
    std::function<int64_t(int64_t, int64_t)> work;
  } all[] = {{"vadd", std::plus<>()},
             {"vsub", std::minus<>()},
             {"vavrg",
              [](int64_t a, int64_t b) { return a + b >= 0 ? (a + b + 1) / 2 : (a + b - 1) / 2; }},
             {"vabsdiff", [](int64_t a, int64_t b) { return std::abs(a - b); }},
             {"vmin", [](int64_t a, int64_t b) { return std::min(a, b); }},
             {"vmax", [](int64_t a, int64_t b) { return std::max(a, b); }}};
  for (const auto& row : all) {
    for (const unsigned count : {2u, 4u}) {
      for (const std::string more : {"", ".sat", ".add"}) {
        for (const std::string types : {".u32.u32.u32", ".s32.s32.s32", ".s32.u32.s32"}) {
          const unsigned n = 32 / count;
          const auto number = [=](uint64_t x, unsigned i, char sign) {
            const uint64_t part = x >> n * i & ((uint64_t{1} << n) - 1);
            return sign == 's' ? extended(part, n) : static_cast<int64_t>(part);
          };
          const int64_t most = (int64_t{1} << (types[1] == 's' ? n - 1 : n)) - 1,
                        least = types[1] == 's' ? -most - 1 : 0;
          check(row.name + std::to_string(count) + types + more + " %d, %a, %b, %c",
                {"b32", "b32", "b32", "b32"}, [=](uint64_t a, uint64_t b, uint64_t c) {
                  uint64_t d = 0, sum = c;
                  for (unsigned i = 0; i < count; ++i) {
                    int64_t x = row.work(number(a, i, types[5]), number(b, i, types[9]));
                    if (more == ".sat") x = std::min(std::max(x, least), most);
                    d |= (static_cast<uint64_t>(x) & ((uint64_t{1} << n) - 1)) << n * i;
                    sum += static_cast<uint64_t>(x);
                  }
                  return more == ".add" ? sum : d;
                });
        }
      }
    }
  }
}

}  // namespace
}  // namespace kernkit::simulator
