// SPDX-License-Identifier: Apache-2.0
// Loops over the 32 lanes of a warp, which compilers vectorise.
#pragma once

#include <cstdint>

#include "ptx/machine/simd_target.h"
#include "ptx/machine/warp.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {

/// Calls step(l) for each lane l. Two registers are identical or disjoint, so no lane reads a value
/// that another lane stored in this loop, and compilers may vectorise the loop.
template <int kCount = 32, class Step>
inline void each_lane(const Step& step) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (int l = 0; l < kCount; ++l) step(l);
}

inline void nothing(Warp&, const Operation&) {}

// Executes an operation with one source. `Stored` is the type of a result register; kCount is the
// number of elements of type D in a register of all lanes.
template <class Op, class D, class A, class Stored = D, int kCount = 32>
void unary(Warp& warp, const Operation& operation) {
  const A* a = warp.lanes<A>(operation.src0);
  D* d = reinterpret_cast<D*>(warp.results<Stored>(operation.dst));
  each_lane<kCount>([&](int l) { d[l] = Op::apply(a[l]); });
  warp.keep<Stored>(operation.dst);
}

template <class Op, class D, class A, class B = A, class Stored = D, int kCount = 32>
void binary(Warp& warp, const Operation& operation) {
  const A* a = warp.lanes<A>(operation.src0);
  const B* b = warp.lanes<B>(operation.src1);
  D* d = reinterpret_cast<D*>(warp.results<Stored>(operation.dst));
  each_lane<kCount>([&](int l) { d[l] = Op::apply(a[l], b[l]); });
  warp.keep<Stored>(operation.dst);
}

template <class Op, class D, class A, class B = A, class C = D, class Stored = D, int kCount = 32>
void ternary(Warp& warp, const Operation& operation) {
  const A* a = warp.lanes<A>(operation.src0);
  const B* b = warp.lanes<B>(operation.src1);
  const C* c = warp.lanes<C>(operation.src2);
  D* d = reinterpret_cast<D*>(warp.results<Stored>(operation.dst));
  each_lane<kCount>([&](int l) { d[l] = Op::apply(a[l], b[l], c[l]); });
  warp.keep<Stored>(operation.dst);
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
