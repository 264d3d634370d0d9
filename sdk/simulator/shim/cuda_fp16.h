// SPDX-License-Identifier: Apache-2.0
// __half for the CPU, as declared by CUDA's header of the same name.
#pragma once

#include "cuda_runtime.h"
#include "kernkit_simulator/small_floats.h"

KERNKIT_16_BIT_FLOAT(__half, half, kernkit::float16)
using half = __half;
using half2 = __half2;

inline __half __float2half(float value) { return __half(value); }
inline __half __float2half_rn(float value) { return __half(value); }
inline __half __double2half(double value) { return __half(value); }
inline __half __int2half_rn(int value) { return __half(value); }
inline float __half2float(__half value) { return value; }
inline int __half2int_rn(__half value) { return __float2int_rn(value); }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 value) { return __floats2half2_rn(value.x, value.y); }
inline __half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }
inline float2 __half22float2(__half2 value) { return {value.x, value.y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half value) { return {value, value}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline unsigned short __half_as_ushort(__half value) { return value.x.bits; }
inline __half __ushort_as_half(unsigned short bits) {
  __half result;
  result.x.bits = bits;
  return result;
}
