// SPDX-License-Identifier: Apache-2.0
// Arithmetic of sizes in int64, with detection of overflow and of division with a remainder.
#pragma once

#include "kernkit/schema/shape_line.h"
#include "kernkit/tensor.h"

namespace kernkit::shapes {

using schema::NodeKind;
using schema::Value;

/// Computes `left` op `right` in int64, where op is the operation `kind`, and sets *out. kDivide
/// requires a remainder of 0, kCeilDiv rounds up, and kRoundUp computes the smallest multiple of
/// `right` that is at least `left`. Returns false, with *out unspecified, if the result overflows
/// or is not an integer, or if the divisor is below 1. `kind` must be kAdd or a later enumerator.
/// Throws nothing.
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

/// Returns the sizes of `x` that "..." in its shape `value` matches [elements], valid as long as
/// the sizes of `x`. The shape must contain "...", and the rank of `x` must be at least the rank of
/// the shape. Throws nothing.
inline ShapeView run_of(const DLTensor* x, const Value& value) {
  return {x->shape + value.run, static_cast<size_t>(x->ndim - value.rank())};
}

}  // namespace kernkit::shapes
