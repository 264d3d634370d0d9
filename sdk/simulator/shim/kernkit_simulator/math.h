// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's math interface that are not in C's. Fast functions have the accuracy of
// the host's C library; the results of a GPU can differ.
#pragma once

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#define KERNKIT_MATH_1(name, expression) \
  inline float name(float x) noexcept { return (expression); }
#define KERNKIT_MATH_2(name, expression) \
  inline float name(float x, float y) noexcept { return (expression); }

// The functions are noexcept to match glibc, which declares some of these names as noexcept.
KERNKIT_MATH_1(__expf, expf(x))
KERNKIT_MATH_1(__exp10f, powf(10.0f, x))
KERNKIT_MATH_1(__logf, logf(x))
KERNKIT_MATH_1(__log2f, log2f(x))
KERNKIT_MATH_1(__log10f, log10f(x))
KERNKIT_MATH_1(__sinf, sinf(x))
KERNKIT_MATH_1(__cosf, cosf(x))
KERNKIT_MATH_1(__tanf, tanf(x))
KERNKIT_MATH_1(__tanhf, tanhf(x))
KERNKIT_MATH_1(__saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
KERNKIT_MATH_1(rsqrtf, 1.0f / sqrtf(x))
KERNKIT_MATH_1(__frsqrt_rn, static_cast<float>(1.0 / sqrt(static_cast<double>(x))))
KERNKIT_MATH_1(__frcp_rn, 1.0f / x)
KERNKIT_MATH_1(__fsqrt_rn, sqrtf(x))
KERNKIT_MATH_1(normcdff, 0.5f * erfcf(-x * 0.70710678f))
KERNKIT_MATH_2(__powf, powf(x, y))
KERNKIT_MATH_2(__fdividef, x / y)
KERNKIT_MATH_2(fdividef, x / y)
KERNKIT_MATH_2(__fadd_rn, x + y)
KERNKIT_MATH_2(__fsub_rn, x - y)
KERNKIT_MATH_2(__fmul_rn, x* y)
KERNKIT_MATH_2(__fdiv_rn, x / y)
#undef KERNKIT_MATH_1
#undef KERNKIT_MATH_2
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = static_cast<float>(sin(x * M_PI));
  *cosine = static_cast<float>(cos(x * M_PI));
}

// Functions of integers. max and min also accept floats and arguments of different types, like
// CUDA's overloads.
template <class A, class B>
constexpr std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>,
                           std::common_type_t<A, B>>
max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) {
    return fmax(static_cast<T>(a), static_cast<T>(b));
  } else {
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
  }
}
template <class A, class B>
constexpr std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>,
                           std::common_type_t<A, B>>
min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) {
    return fmin(static_cast<T>(a), static_cast<T>(b));
  } else {
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
  }
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result |= (x >> i & 1u) << (31 - i);
  return result;
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((uint64_t{x} * y) >> 32);
}
inline int __mulhi(int x, int y) { return static_cast<int>((int64_t{x} * y) >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>((static_cast<Wide>(x) * y) >> 64);
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift == 0 ? high : high << shift | low >> (32 - shift);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift == 0 ? low : high << (32 - shift) | low >> shift;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned select = selector >> (4 * i) & 0xfu;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (select & 7u))) & 0xffu;
    if ((select & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// Functions that reinterpret bits, and conversions with a rounding mode.
#define KERNKIT_SAME_BITS(name, To, From)      \
  inline To name(From from) {                  \
    static_assert(sizeof(To) == sizeof(From)); \
    To to;                                     \
    memcpy(&to, &from, sizeof(to));            \
    return to;                                 \
  }
KERNKIT_SAME_BITS(__float_as_int, int, float)
KERNKIT_SAME_BITS(__float_as_uint, unsigned, float)
KERNKIT_SAME_BITS(__int_as_float, float, int)
KERNKIT_SAME_BITS(__uint_as_float, float, unsigned)
KERNKIT_SAME_BITS(__double_as_longlong, long long, double)
KERNKIT_SAME_BITS(__longlong_as_double, double, long long)
#undef KERNKIT_SAME_BITS
// Conversions to int saturate values that are out of range, and return 0 for a NaN.
inline int __float2int_rn(float x) {
  if (x != x) return 0;
  const double rounded = nearbyint(static_cast<double>(x));
  return rounded >= 2147483647.0    ? INT_MAX
         : rounded <= -2147483648.0 ? INT_MIN
                                    : static_cast<int>(rounded);
}
inline int __float2int_rz(float x) { return __float2int_rn(truncf(x)); }
inline int __float2int_rd(float x) { return __float2int_rn(floorf(x)); }
inline int __float2int_ru(float x) { return __float2int_rn(ceilf(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
