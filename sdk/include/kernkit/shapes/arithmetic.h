// SPDX-License-Identifier: Apache-2.0
// Arithmetic of sizes in int64: an overflow or an inexact division gives no size.
#pragma once

#include "kernkit/schema/shape_line.h"
#include "kernkit/tensor.h"

namespace kernkit::shapes {

using schema::NodeKind;
using schema::Value;

/// Computes `left` op `right` in int64; `kind` must be an operation of two operands, from kAdd on.
/// Returns true, with the result in *out. False, with *out unspecified, if the result overflows,
/// divides by a number below 1, or is inexact. kDivide requires a remainder of 0; kCeilDiv rounds
/// up; kRoundUp gives the smallest multiple of `right` that is at least `left`. Throws nothing.
[[gnu::always_inline]] inline bool apply(NodeKind kind, int64_t left, int64_t right, int64_t* out) {
  switch (kind) {
    case NodeKind::kAdd: return !__builtin_add_overflow(left, right, out);
    case NodeKind::kSubtract: return !__builtin_sub_overflow(left, right, out);
    case NodeKind::kMultiply: return !__builtin_mul_overflow(left, right, out);
    default: break;
  }
  if (right <= 0) return false;
  const int64_t quotient = left / right;
  const int64_t remainder = left % right;
  *out = quotient;
  if (kind == NodeKind::kDivide) return remainder == 0;
  *out += remainder > 0;
  return kind == NodeKind::kCeilDiv || !__builtin_mul_overflow(*out, right, out);
}

/// The run of sizes of `x` that "..." matches [elements]. `value` must have a run, and `x` at least
/// its rank. Valid as long as the sizes of `x`. Throws nothing.
inline ShapeView run_of(const DLTensor* x, const Value& value) {
  return {x->shape + value.run, static_cast<size_t>(x->ndim - value.rank())};
}

}  // namespace kernkit::shapes
