// SPDX-License-Identifier: Apache-2.0
// Comparisons of setp and set on 32 lanes.
#pragma once

#include <type_traits>

#include "ptx/isa/comparison.h"
#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace compare_steps {

template <Comparison kHow, class V>
bool holds(V a, V b) {
  switch (kHow) {
    case kEq: return a == b;
    case kNe: return a < b || a > b;  // false if a or b is a NaN
    case kLt: return a < b;
    case kLe: return a <= b;
    case kGt: return a > b;
    case kGe: return a >= b;
    default: return a != a || b != b;
  }
}

template <Comparison kHow, bool kFlushes, class X>
uint32_t compare(const X* a, const X* b) {
  uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) {
    X x = a[l], y = b[l];
    if constexpr (kFlushes) {
      x = flush(x);
      y = flush(y);
    }
    bits |= holds<kHow>(x, y) ? kLane[l] : 0;
  }
  return bits;
}

template <bool kFlushes, class X>
uint32_t compare(Comparison how, const X* a, const X* b) {
  switch (how) {
    case kEq: return compare<kEq, kFlushes>(a, b);
    case kNe: return compare<kNe, kFlushes>(a, b);
    case kLt: return compare<kLt, kFlushes>(a, b);
    case kLe: return compare<kLe, kFlushes>(a, b);
    case kGt: return compare<kGt, kFlushes>(a, b);
    case kGe: return compare<kGe, kFlushes>(a, b);
    default: break;
  }
  uint32_t unordered = 0;
  if constexpr (!std::is_integral_v<X>) unordered = compare<kNan, false>(a, b);
  return how == kNum ? ~unordered : unordered;
}

template <bool kFlushes, class X>
uint32_t compared(uint8_t mode, const X* a, const X* b) {
  const uint32_t bits = compare<kFlushes>(static_cast<Comparison>(mode & kComparison), a, b);
  return (mode & kUnordered) != 0 ? bits | compare<false>(kNan, a, b) : bits;
}
template <class X, bool kFlushes>
uint32_t compared(Warp& warp, const Operation& operation) {
  return compared<kFlushes>(operation.mode, warp.lanes<X>(operation.src0),
                            warp.lanes<X>(operation.src1));
}
// Compares 16-bit numbers, converted to float: number kStride * l + kFirst of the registers in lane
// l.
template <class H, int kStride, int kFirst>
uint32_t compared_halves(Warp& warp, const Operation& operation) {
  const H *a = warp.lanes<H>(operation.src0), *b = warp.lanes<H>(operation.src1);
  alignas(64) float wide[2][32];
  each_lane([&](int l) { wide[0][l] = a[kStride * l + kFirst].value(); });
  each_lane([&](int l) { wide[1][l] = b[kStride * l + kFirst].value(); });
  return compared<false>(operation.mode, wide[0], wide[1]);
}
inline uint32_t combined(Warp& warp, const Operation& operation, uint32_t bits) {
  const int how = operation.mode >> kCombined;
  if (how == 0) return bits;
  const uint32_t third = warp.predicate(operation.src2);
  const uint32_t c = operation.negated ? ~third : third;
  return how == 1 ? bits & c : how == 2 ? bits | c : bits ^ c;
}

inline void set_both_predicates(Warp& warp, const Operation& operation, uint32_t bits) {
  const uint32_t first = combined(warp, operation, bits);
  const uint32_t second = combined(warp, operation, ~bits);
  if (operation.dst != kNone) warp.set_predicate(operation.dst, first);
  if (operation.dst_predicate != kNone) warp.set_predicate(operation.dst_predicate, second);
}
template <class X, bool kFlushes>
void set_predicates(Warp& warp, const Operation& operation) {
  set_both_predicates(warp, operation, compared<X, kFlushes>(warp, operation));
}

}  // namespace compare_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
