// SPDX-License-Identifier: Apache-2.0
// Results of instructions for 2^32 pairs, from tables of 65536 values and arithmetic that compilers
// vectorise. The code is independent of the simulator, which computes in float.
#include "pairs.h"

#include <cstring>
#include <map>

#include "float_formats.h"

namespace kernkit::simulator {
namespace {

using Names = std::map<std::string, Row>;

// Writes the results of `Function` for every value of the first source with the value `second` of
// the second source.
template <class Function>
[[gnu::always_inline]] inline void fill(uint16_t second, uint32_t* results) {
  const Function function(second);
  for (uint32_t first = 0; first < kRow; ++first) results[first] = function(first);
}
template <class Function>
void row_of_any(uint16_t second, uint32_t* results) {
  fill<Function>(second, results);
}
#if defined(__x86_64__)
template <class Function>
[[gnu::target("avx2")]] void row_by_avx2(uint16_t second, uint32_t* results) {
  fill<Function>(second, results);
}
// Returns row_by_avx2 if the processor has AVX2, else row_of_any.
template <class Function>
Row row() {
  return __builtin_cpu_supports("avx2") ? row_by_avx2<Function> : row_of_any<Function>;
}
#else
template <class Function>
Row row() {
  return row_of_any<Function>;
}
#endif

struct F16 {
  static constexpr int kExponent = 5, kMantissa = 10;
  static const double* values() { return kHalves.data(); }
};
struct BF16 {
  static constexpr int kExponent = 8, kMantissa = 7;
  static const double* values() { return kBfloats.data(); }
};

// Rounds x to the format: to nearest, ties to even. Adds a double whose last bit has the weight of
// the result's last bit, so that the processor rounds at this bit. The bits of the sum minus the
// bits of the added double are the result's magnitude in units of this bit.
template <class Format>
[[gnu::always_inline]] inline uint32_t rounded(double x) {
  constexpr int64_t kBias = (1 << (Format::kExponent - 1)) - 1;
  constexpr int64_t kInfinity = ((int64_t{1} << Format::kExponent) - 1) << Format::kMantissa;
  int64_t bits;
  std::memcpy(&bits, &x, sizeof(x));
  const int64_t magnitude = bits & INT64_MAX;
  const int64_t sign = static_cast<int64_t>(static_cast<uint64_t>(bits ^ magnitude) >> 48);
  const int64_t top = std::max(magnitude >> 52, 1024 - kBias);
  const int64_t capped = std::min(top, 1023 + kBias + 1);  // larger exponents become infinity
  const int64_t added = (capped + 52 - Format::kMantissa) << 52 | int64_t{1} << 51;
  double nearest, counted;
  std::memcpy(&nearest, &added, sizeof(nearest));
  counted = std::fabs(x) + nearest;
  int64_t sum;
  std::memcpy(&sum, &counted, sizeof(sum));
  const int64_t result = ((capped - 1024 + kBias) << Format::kMantissa) + (sum - added);
  const int64_t finite = top > 1023 + kBias ? kInfinity : std::min(result, kInfinity);
  return static_cast<uint32_t>(x != x ? 0x7fff : sign | finite);
}

struct Sum {
  static double apply(double a, double b) { return a + b; }
};
struct Difference {
  static double apply(double a, double b) { return a - b; }
};
struct Product {
  static double apply(double a, double b) { return a * b; }
};

// The result in double is exact, or so accurate that rounding to the format is correct. Products
// have at most 22 bits, and exponents from -266. Sums of .f16 are multiples of 2^-24 below 2^17. If
// the exponents of two .bf16 numbers differ by at most 44, a double holds the sum. Otherwise the
// smaller number is less than 2^-44 of the greater number, and the sum is rounded to the greater
// number: the next midpoint is at least 2^-9 of the greater number away.
template <class Format, class Op>
struct Arithmetic {
  explicit Arithmetic(uint16_t second) : b(all[second]) {}
  uint32_t operator()(uint32_t first) const { return rounded<Format>(Op::apply(all[first], b)); }
  const double* all = Format::values();
  double b;
};

// .sat clamps to [0, 1]; a NaN becomes 0.
template <class Op>
struct Clamped {
  static double apply(double a, double b) {
    const double x = Op::apply(a, b), above = x > 0 ? x : 0;
    return above > 1 ? 1 : above;
  }
};

// The minimum (kLeast) or maximum of two floats: the number if the other float is a NaN. -0 is less
// than +0.
template <class Format, bool kLeast>
struct Choice {
  explicit Choice(uint16_t second) : b(second), y(all[second]) {}
  uint32_t operator()(uint32_t first) const {
    const double x = all[first];
    const bool less = x < y || (x == y && first >> 15 > b >> 15);
    const uint32_t chosen = less == kLeast ? first : b;
    return x != x ? (y != y ? 0x7fffu : b) : y != y ? first : chosen;
  }
  const double* all = Format::values();
  uint32_t b;
  double y;
};

template <class Format, bool kLess, bool kEqual, bool kGreater, bool kUnordered>
struct Comparison {
  explicit Comparison(uint16_t second) : b(all[second]) {}
  uint32_t operator()(uint32_t first) const {
    const double a = all[first];
    return (kLess & (a < b)) | (kEqual & (a == b)) | (kGreater & (a > b)) |
           (kUnordered & ((a != a) | (b != b)));
  }
  const double* all = Format::values();
  double b;
};

// The instruction `set`: the result is kBits if the comparison is true, otherwise 0.
template <class Holds, uint32_t kBits>
struct Marked {
  explicit Marked(uint16_t second) : holds(second) {}
  uint32_t operator()(uint32_t first) const { return holds(first) * kBits; }
  Holds holds;
};

// Integer instructions. The sources are extended to type X, and kMask selects the result's bits
// from the value that `Op` returns.
template <class X, class Op, uint32_t kMask = 0xffff>
struct Integer {
  explicit Integer(uint16_t second) : b(static_cast<X>(second)) {}
  uint32_t operator()(uint32_t first) const {
    return static_cast<uint32_t>(Op::apply(static_cast<X>(first), b)) & kMask;
  }
  int32_t b;
};
struct Plus {
  static int32_t apply(int32_t a, int32_t b) { return a + b; }
};
struct Minus {
  static int32_t apply(int32_t a, int32_t b) { return a - b; }
};
struct Times {
  static uint32_t apply(int32_t a, int32_t b) {
    return static_cast<uint32_t>(a) * static_cast<uint32_t>(b);
  }
};
struct UpperHalf {
  static uint32_t apply(int32_t a, int32_t b) { return Times::apply(a, b) >> 16; }
};
struct Least {
  static int32_t apply(int32_t a, int32_t b) { return a < b ? a : b; }
};
struct Most {
  static int32_t apply(int32_t a, int32_t b) { return a > b ? a : b; }
};
// Division in double is accurate enough, because the quotient of two 16-bit numbers is an integer
// or at least 2^-16 away from an integer. Division by 0 sets all bits; PTX ISA does not specify
// this result.
struct Quotient {
  static int32_t apply(int32_t a, int32_t b) {
    return b == 0 ? -1 : static_cast<int32_t>(static_cast<double>(a) / b);
  }
};
struct Remainder {
  static int32_t apply(int32_t a, int32_t b) { return b == 0 ? a : a - b * Quotient::apply(a, b); }
};
struct And {
  static int32_t apply(int32_t a, int32_t b) { return a & b; }
};
struct Or {
  static int32_t apply(int32_t a, int32_t b) { return a | b; }
};
struct Xor {
  static int32_t apply(int32_t a, int32_t b) { return a ^ b; }
};
struct Both {
  static uint32_t apply(int32_t a, int32_t b) {
    return static_cast<uint32_t>(a) | static_cast<uint32_t>(b) << 16;
  }
};
template <bool kLess, bool kEqual, bool kGreater>
struct Compared {
  static int32_t apply(int32_t a, int32_t b) {
    return (kLess & (a < b)) | (kEqual & (a == b)) | (kGreater & (a > b));
  }
};

template <class Format, class Holds>
void add_comparison(Names& names, const std::string& type, const std::string& how) {
  constexpr uint32_t kOne = ((uint32_t{1} << (Format::kExponent - 1)) - 1) << Format::kMantissa;
  const std::string two = type + "x2", sources = " %d, %a, %b";
  for (const std::string& from : {type, two}) {
    names["setp." + how + "." + from + sources] = row<Holds>();
    names["set." + how + "." + from + "." + from + sources] = row<Marked<Holds, kOne>>();
  }
  names["set." + how + ".u32." + two + sources] = row<Marked<Holds, 0xffff>>();
  names["set." + how + ".u16." + type + sources] = row<Marked<Holds, 0xffff>>();
  names["set." + how + ".s32." + type + sources] = row<Marked<Holds, UINT32_MAX>>();
}

template <class Format>
void add_format(Names& names, const std::string& type) {
  const auto add = [&](const std::string& op, Row row) {
    for (const char* count : {"", "x2"}) names[op + "." + type + count + " %d, %a, %b"] = row;
  };
  add("add", row<Arithmetic<Format, Sum>>());
  add("sub", row<Arithmetic<Format, Difference>>());
  add("mul", row<Arithmetic<Format, Product>>());
  add("add.sat", row<Arithmetic<Format, Clamped<Sum>>>());
  add("sub.sat", row<Arithmetic<Format, Clamped<Difference>>>());
  add("mul.sat", row<Arithmetic<Format, Clamped<Product>>>());
  add("min", row<Choice<Format, true>>());
  add("max", row<Choice<Format, false>>());
  add_comparison<Format, Comparison<Format, false, true, false, false>>(names, type, "eq");
  add_comparison<Format, Comparison<Format, true, false, true, false>>(names, type, "ne");
  add_comparison<Format, Comparison<Format, true, false, false, false>>(names, type, "lt");
  add_comparison<Format, Comparison<Format, true, true, false, false>>(names, type, "le");
  add_comparison<Format, Comparison<Format, false, false, true, false>>(names, type, "gt");
  add_comparison<Format, Comparison<Format, false, true, true, false>>(names, type, "ge");
  add_comparison<Format, Comparison<Format, false, true, false, true>>(names, type, "equ");
  add_comparison<Format, Comparison<Format, true, false, true, true>>(names, type, "neu");
  add_comparison<Format, Comparison<Format, true, false, false, true>>(names, type, "ltu");
  add_comparison<Format, Comparison<Format, true, true, false, true>>(names, type, "leu");
  add_comparison<Format, Comparison<Format, false, false, true, true>>(names, type, "gtu");
  add_comparison<Format, Comparison<Format, false, true, true, true>>(names, type, "geu");
  add_comparison<Format, Comparison<Format, true, true, true, false>>(names, type, "num");
  add_comparison<Format, Comparison<Format, false, false, false, true>>(names, type, "nan");
}

template <class X>
void add_integers(Names& names, const std::string& type) {
  const auto add = [&](const std::string& op, Row row) {
    names[op + "." + type + " %d, %a, %b"] = row;
  };
  add("add", row<Integer<X, Plus>>());
  add("sub", row<Integer<X, Minus>>());
  add("mul.lo", row<Integer<X, Times>>());
  add("mul.hi", row<Integer<X, UpperHalf>>());
  add("mul.wide", row<Integer<X, Times, UINT32_MAX>>());
  add("min", row<Integer<X, Least>>());
  add("max", row<Integer<X, Most>>());
  add("div", row<Integer<X, Quotient>>());
  add("rem", row<Integer<X, Remainder>>());
  add("and", row<Integer<X, And>>());
  add("or", row<Integer<X, Or>>());
  add("xor", row<Integer<X, Xor>>());
  add("setp.eq", row<Integer<X, Compared<false, true, false>>>());
  add("setp.ne", row<Integer<X, Compared<true, false, true>>>());
  add("setp.lt", row<Integer<X, Compared<true, false, false>>>());
  add("setp.le", row<Integer<X, Compared<true, true, false>>>());
  add("setp.gt", row<Integer<X, Compared<false, false, true>>>());
  add("setp.ge", row<Integer<X, Compared<false, true, true>>>());
}

Names all_names() {
  Names names;
  add_format<F16>(names, "f16");
  add_format<BF16>(names, "bf16");
  add_integers<uint16_t>(names, "u16");
  add_integers<int16_t>(names, "s16");
  add_integers<uint16_t>(names, "b16");
  names["mov.b32 %d, {%a, %b}"] = row<Integer<uint16_t, Both, UINT32_MAX>>();
  return names;
}

template <class T>
size_t first_other_of(const T* results, const uint32_t* expected) {
  uint32_t differences = 0;
  for (size_t x = 0; x < kRow; ++x) differences |= results[x] ^ expected[x];
  if (differences == 0) return kRow;
  size_t x = 0;
  while (results[x] == expected[x]) ++x;
  return x;
}

}  // namespace

Row row_of(const std::string& instruction) {
  static const Names names = all_names();
  const auto position = names.find(instruction);
  return position != names.end() ? position->second : nullptr;
}

void put_above(const uint32_t* upper, uint32_t* results) {
  for (size_t x = 0; x < kRow; ++x) results[x] |= upper[x] << 16;
}

size_t first_other(const unsigned char* results, size_t bytes, const uint32_t* expected) {
  return bytes == 2 ? first_other_of(reinterpret_cast<const uint16_t*>(results), expected)
                    : first_other_of(reinterpret_cast<const uint32_t*>(results), expected);
}

}  // namespace kernkit::simulator
