// SPDX-License-Identifier: Apache-2.0
// __nv_bfloat16 for the CPU, as declared by CUDA's header of the same name.
#pragma once

#include "cuda_runtime.h"
#include "kernkit_simulator/small_floats.h"

KERNKIT_16_BIT_FLOAT(__nv_bfloat16, bfloat16, kernkit::bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__nv_bfloat16(x), __nv_bfloat16(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 value) {
  return __floats2bfloat162_rn(value.x, value.y);
}
inline float2 __bfloat1622float2(__nv_bfloat162 value) { return {value.x, value.y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return {value, value}; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 result;
  result.x.bits = bits;
  return result;
}
