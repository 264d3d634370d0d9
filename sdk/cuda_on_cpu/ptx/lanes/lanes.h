// SPDX-License-Identifier: Apache-2.0
// Loops over the 32 lanes of a warp, which compilers vectorise.
#pragma once

#include <cstdint>

#include "ptx/machine/warp.h"

namespace kernkit::cuda_on_cpu::ptx {

/// Registers are the same or apart, so that no lane sees what another one's step stored.
template <int kCount = 32, class Step>
inline void each_lane(const Step& step) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (int l = 0; l < kCount; ++l) step(l);
}

template <class Op, class D, class A>
void unary(Warp& warp, const Operation& operation) {
  const A* a = warp.lanes<A>(operation.a);
  D* d = warp.results<D>(operation.to);
  each_lane([&](int l) { d[l] = Op::of(a[l]); });
  warp.keep<D>(operation.to);
}

template <class Op, class D, class A, class B = A>
void binary(Warp& warp, const Operation& operation) {
  const A* a = warp.lanes<A>(operation.a);
  const B* b = warp.lanes<B>(operation.b);
  D* d = warp.results<D>(operation.to);
  each_lane([&](int l) { d[l] = Op::of(a[l], b[l]); });
  warp.keep<D>(operation.to);
}

template <class Op, class D, class A, class B = A, class C = D>
void ternary(Warp& warp, const Operation& operation) {
  const A* a = warp.lanes<A>(operation.a);
  const B* b = warp.lanes<B>(operation.b);
  const C* c = warp.lanes<C>(operation.c);
  D* d = warp.results<D>(operation.to);
  each_lane([&](int l) { d[l] = Op::of(a[l], b[l], c[l]); });
  warp.keep<D>(operation.to);
}

// Two numbers of 16 bits in each register.
template <class Op, class T>
void packed_unary(Warp& warp, const Operation& operation) {
  const T* a = warp.lanes<T>(operation.a);
  T* d = reinterpret_cast<T*>(warp.results<uint32_t>(operation.to));
  each_lane<64>([&](int l) { d[l] = Op::of(a[l]); });
  warp.keep<uint32_t>(operation.to);
}
template <class Op, class T>
void packed_binary(Warp& warp, const Operation& operation) {
  const T *a = warp.lanes<T>(operation.a), *b = warp.lanes<T>(operation.b);
  T* d = reinterpret_cast<T*>(warp.results<uint32_t>(operation.to));
  each_lane<64>([&](int l) { d[l] = Op::of(a[l], b[l]); });
  warp.keep<uint32_t>(operation.to);
}
template <class Op, class T>
void packed_ternary(Warp& warp, const Operation& operation) {
  const T *a = warp.lanes<T>(operation.a), *b = warp.lanes<T>(operation.b),
          *c = warp.lanes<T>(operation.c);
  T* d = reinterpret_cast<T*>(warp.results<uint32_t>(operation.to));
  each_lane<64>([&](int l) { d[l] = Op::of(a[l], b[l], c[l]); });
  warp.keep<uint32_t>(operation.to);
}

}  // namespace kernkit::cuda_on_cpu::ptx
