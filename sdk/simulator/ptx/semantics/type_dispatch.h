// SPDX-License-Identifier: Apache-2.0
// Type dispatch: returns the loop for an operation's type; null for an unsupported type.
#pragma once

#include "ptx/decode/decoder.h"
#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {

// `run` is the loop for registers with one number, `packed` for registers with two 16-bit numbers,
// and `wide` for registers with two floats.
template <class Op>
struct Unary {
  template <class X>
  static constexpr Run run = unary<Op, X, X>;
  template <class X>
  static constexpr Run packed = unary<Op, X, X, uint32_t, 64>;
};
template <class Op>
struct Binary {
  template <class X>
  static constexpr Run run = binary<Op, X, X>;
  template <class X>
  static constexpr Run packed = binary<Op, X, X, X, uint32_t, 64>;
  static constexpr Run wide = binary<Op, float, float, float, uint64_t, 64>;
};
template <class Op>
struct Ternary {
  template <class X>
  static constexpr Run run = ternary<Op, X, X>;
  template <class X>
  static constexpr Run packed = ternary<Op, X, X, X, X, uint32_t, 64>;
  static constexpr Run wide = ternary<Op, float, float, float, float, uint64_t, 64>;
};

template <class Form>
Run of_integer(Type type) {
  switch (type) {
    case Type::kU16: return Form::template run<uint16_t>;
    case Type::kS16: return Form::template run<int16_t>;
    case Type::kU32: return Form::template run<uint32_t>;
    case Type::kS32: return Form::template run<int32_t>;
    case Type::kU64: return Form::template run<uint64_t>;
    case Type::kS64: return Form::template run<int64_t>;
    default: return nullptr;
  }
}
template <class Form>
Run of_bits(Type type) {
  if (type == Type::kB16) return Form::template run<uint16_t>;
  if (type == Type::kB32) return Form::template run<uint32_t>;
  if (type == Type::kB64) return Form::template run<uint64_t>;
  return nullptr;
}
/// Returns the form for an integer type, for operations whose result does not depend on signedness.
template <class Form>
Run of_unsigned(Type type) {
  switch (type) {
    case Type::kU16:
    case Type::kS16: return Form::template run<uint16_t>;
    case Type::kU32:
    case Type::kS32: return Form::template run<uint32_t>;
    case Type::kU64:
    case Type::kS64: return Form::template run<uint64_t>;
    default: return nullptr;
  }
}
template <class Form>
Run of_half(Type type) {
  switch (type) {
    case Type::kF16: return Form::template run<Half>;
    case Type::kBF16: return Form::template run<BHalf>;
    case Type::kF16x2: return Form::template packed<Half>;
    case Type::kBF16x2: return Form::template packed<BHalf>;
    default: return nullptr;
  }
}
/// Returns the form for .f32 or .f64. `Flushed` is the .f32 form that flushes subnormal numbers.
template <class Form, class Flushed>
Run of_real(Type type, bool flushes) {
  if (type == Type::kF64) return flushes ? nullptr : Form::template run<double>;
  if (type != Type::kF32) return nullptr;
  return flushes ? Flushed::template run<float> : Form::template run<float>;
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
