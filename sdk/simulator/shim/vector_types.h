// SPDX-License-Identifier: Apache-2.0
// dim3 and the vector types, aligned as on a GPU, so that UBSan reports misaligned pointers.
#pragma once

#define KERNKIT_VECTOR_TYPE(T, name, align1, align2, align4)         \
  struct alignas(align1) name##1 {                                   \
    T x;                                                             \
  };                                                                 \
  struct alignas(align2) name##2 {                                   \
    T x, y;                                                          \
  };                                                                 \
  struct name##3 {                                                   \
    T x, y, z;                                                       \
  };                                                                 \
  struct alignas(align4) name##4 {                                   \
    T x, y, z, w;                                                    \
  };                                                                 \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KERNKIT_VECTOR_TYPE(signed char, char, 1, 2, 4)
KERNKIT_VECTOR_TYPE(unsigned char, uchar, 1, 2, 4)
KERNKIT_VECTOR_TYPE(short, short, 2, 4, 8)
KERNKIT_VECTOR_TYPE(unsigned short, ushort, 2, 4, 8)
KERNKIT_VECTOR_TYPE(int, int, 4, 8, 16)
KERNKIT_VECTOR_TYPE(unsigned, uint, 4, 8, 16)
KERNKIT_VECTOR_TYPE(long, long, 8, 16, 16)
KERNKIT_VECTOR_TYPE(unsigned long, ulong, 8, 16, 16)
KERNKIT_VECTOR_TYPE(long long, longlong, 8, 16, 16)
KERNKIT_VECTOR_TYPE(unsigned long long, ulonglong, 8, 16, 16)
KERNKIT_VECTOR_TYPE(float, float, 4, 8, 16)
KERNKIT_VECTOR_TYPE(double, double, 8, 16, 16)
#undef KERNKIT_VECTOR_TYPE

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
