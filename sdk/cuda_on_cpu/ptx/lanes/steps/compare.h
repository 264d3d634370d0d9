// SPDX-License-Identifier: Apache-2.0
// setp on 32 lanes.
#pragma once

#include "ptx/lanes/half.h"
#include "ptx/lanes/lanes.h"

namespace kernkit::cuda_on_cpu::ptx {
inline namespace KERNKIT_PTX_WAY {
namespace compare_steps {

enum Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

template <class X>
auto plain(X x) {
  return x;
}
inline float plain(Half x) { return x.value(); }
inline float plain(BHalf x) { return x.value(); }

template <Comparison kHow, class V>
bool holds(V a, V b) {
  switch (kHow) {
    case kEq: return a == b;
    case kNe: return a < b || a > b;  // false for a NaN
    case kLt: return a < b;
    case kLe: return a <= b;
    case kGt: return a > b;
    case kGe: return a >= b;
    case kNum: return a == a && b == b;
    case kNan: return a != a || b != b;
  }
  return false;
}

template <Comparison kHow, class X, bool kFlushes, int kStride, int kFirst>
uint32_t compare(const X* a, const X* b) {
  uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) {
    auto x = plain(a[kStride * l + kFirst]), y = plain(b[kStride * l + kFirst]);
    if constexpr (kFlushes) {
      x = flush(x);
      y = flush(y);
    }
    bits |= holds<kHow>(x, y) ? kLane[l] : 0;
  }
  return bits;
}

template <class X, bool kFlushes, int kStride = 1, int kFirst = 0>
uint32_t compare(Comparison how, const X* a, const X* b) {
  switch (how) {
    case kEq: return compare<kEq, X, kFlushes, kStride, kFirst>(a, b);
    case kNe: return compare<kNe, X, kFlushes, kStride, kFirst>(a, b);
    case kLt: return compare<kLt, X, kFlushes, kStride, kFirst>(a, b);
    case kLe: return compare<kLe, X, kFlushes, kStride, kFirst>(a, b);
    case kGt: return compare<kGt, X, kFlushes, kStride, kFirst>(a, b);
    case kGe: return compare<kGe, X, kFlushes, kStride, kFirst>(a, b);
    case kNum: return compare<kNum, X, kFlushes, kStride, kFirst>(a, b);
    case kNan: return compare<kNan, X, kFlushes, kStride, kFirst>(a, b);
  }
  return 0;
}

// An operation's mode: the comparison, whether it also holds for a NaN, and how the result is
// combined with a predicate: not, and, or, xor.
constexpr uint8_t kUnordered = 8;
constexpr int kCombined = 4;

template <class X, bool kFlushes, int kStride = 1, int kFirst = 0>
uint32_t compared(Warp& warp, const Operation& operation) {
  const auto how = static_cast<Comparison>(operation.mode & 7);
  const X *a = warp.lanes<X>(operation.a), *b = warp.lanes<X>(operation.b);
  uint32_t bits = compare<X, kFlushes, kStride, kFirst>(how, a, b);
  if ((operation.mode & kUnordered) != 0) bits |= compare<kNan, X, false, kStride, kFirst>(a, b);
  return bits;
}
inline uint32_t combined(Warp& warp, const Operation& operation, uint32_t bits) {
  const int how = operation.mode >> kCombined;
  if (how == 0) return bits;
  const uint32_t other = warp.predicate(operation.c);
  const uint32_t c = operation.negated ? ~other : other;
  return how == 1 ? bits & c : how == 2 ? bits | c : bits ^ c;
}

template <class X, bool kFlushes>
void set_predicates(Warp& warp, const Operation& operation) {
  const uint32_t bits = compared<X, kFlushes>(warp, operation);
  const uint32_t first = combined(warp, operation, bits);
  const uint32_t second = combined(warp, operation, ~bits);
  if (operation.to != kNone) warp.set_predicate(operation.to, first);
  if (operation.to_predicate != kNone) warp.set_predicate(operation.to_predicate, second);
}

}  // namespace compare_steps
}  // namespace KERNKIT_PTX_WAY
}  // namespace kernkit::cuda_on_cpu::ptx
