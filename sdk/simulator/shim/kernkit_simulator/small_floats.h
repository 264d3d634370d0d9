// SPDX-License-Identifier: Apache-2.0
// The common operations of NVIDIA's 16-bit floats, computed in float32 and rounded once.
#pragma once

#include <math.h>

#include "kernkit/float.h"

#define KERNKIT_16_BIT_FLOAT(Half, Raw, storage)                                           \
  struct Half {                                                                            \
    storage x;                                                                             \
    Half() = default;                                                                      \
    Half(float value) : x{value} {}                                                        \
    Half(double value) : x{static_cast<float>(value)} {}                                   \
    Half(int value) : x{static_cast<float>(value)} {}                                      \
    Half(unsigned value) : x{static_cast<float>(value)} {}                                 \
    operator float() const { return static_cast<float>(x); }                               \
  };                                                                                       \
  static_assert(sizeof(Half) == 2, #Half " has 16 bits");                                  \
  inline float kernkit_float(Half a) { return static_cast<float>(a.x); }                   \
  inline Half operator+(Half a, Half b) { return kernkit_float(a) + kernkit_float(b); }    \
  inline Half operator-(Half a, Half b) { return kernkit_float(a) - kernkit_float(b); }    \
  inline Half operator*(Half a, Half b) { return kernkit_float(a) * kernkit_float(b); }    \
  inline Half operator/(Half a, Half b) { return kernkit_float(a) / kernkit_float(b); }    \
  inline Half operator-(Half a) { return -kernkit_float(a); }                              \
  inline Half& operator+=(Half& a, Half b) { return a = a + b; }                           \
  inline Half& operator-=(Half& a, Half b) { return a = a - b; }                           \
  inline Half& operator*=(Half& a, Half b) { return a = a * b; }                           \
  inline Half& operator/=(Half& a, Half b) { return a = a / b; }                           \
  inline bool operator==(Half a, Half b) { return kernkit_float(a) == kernkit_float(b); }  \
  inline bool operator!=(Half a, Half b) { return kernkit_float(a) != kernkit_float(b); }  \
  inline bool operator<(Half a, Half b) { return kernkit_float(a) < kernkit_float(b); }    \
  inline bool operator>(Half a, Half b) { return kernkit_float(a) > kernkit_float(b); }    \
  inline bool operator<=(Half a, Half b) { return kernkit_float(a) <= kernkit_float(b); }  \
  inline bool operator>=(Half a, Half b) { return kernkit_float(a) >= kernkit_float(b); }  \
  inline Half __hadd(Half a, Half b) { return a + b; }                                     \
  inline Half __hsub(Half a, Half b) { return a - b; }                                     \
  inline Half __hmul(Half a, Half b) { return a * b; }                                     \
  inline Half __hdiv(Half a, Half b) { return a / b; }                                     \
  inline Half __hneg(Half a) { return -a; }                                                \
  inline Half __habs(Half a) { return fabsf(kernkit_float(a)); }                           \
  inline Half __hfma(Half a, Half b, Half c) {                                             \
    return fmaf(kernkit_float(a), kernkit_float(b), kernkit_float(c));                     \
  }                                                                                        \
  inline Half __hmax(Half a, Half b) { return fmaxf(kernkit_float(a), kernkit_float(b)); } \
  inline Half __hmin(Half a, Half b) { return fminf(kernkit_float(a), kernkit_float(b)); } \
  inline bool __heq(Half a, Half b) { return a == b; }                                     \
  inline bool __hlt(Half a, Half b) { return a < b; }                                      \
  inline bool __hgt(Half a, Half b) { return a > b; }                                      \
  inline bool __hisnan(Half a) { return a != a; }                                          \
  inline Half hexp(Half a) { return expf(kernkit_float(a)); }                              \
  inline Half hlog(Half a) { return logf(kernkit_float(a)); }                              \
  inline Half hsqrt(Half a) { return sqrtf(kernkit_float(a)); }                            \
  inline Half hrsqrt(Half a) { return 1.0f / sqrtf(kernkit_float(a)); }                    \
  struct alignas(4) Half##2 {                                                              \
    Half x, y;                                                                             \
  };                                                                                       \
  inline Half##2 operator+(Half##2 a, Half##2 b) { return {a.x + b.x, a.y + b.y}; }        \
  inline Half##2 operator-(Half##2 a, Half##2 b) { return {a.x - b.x, a.y - b.y}; }        \
  inline Half##2 operator*(Half##2 a, Half##2 b) { return {a.x * b.x, a.y * b.y}; }        \
  inline Half##2 __hadd2(Half##2 a, Half##2 b) { return a + b; }                           \
  inline Half##2 __hsub2(Half##2 a, Half##2 b) { return a - b; }                           \
  inline Half##2 __hmul2(Half##2 a, Half##2 b) { return a * b; }                           \
  inline Half##2 __hfma2(Half##2 a, Half##2 b, Half##2 c) {                                \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                 \
  }                                                                                        \
  inline Half __low2##Raw(Half##2 a) { return a.x; }                                       \
  inline Half __high2##Raw(Half##2 a) { return a.y; }
