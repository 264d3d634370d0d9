// SPDX-License-Identifier: Apache-2.0
// Approximations. The PTX ISA bounds their errors; results that are computed in double precision
// and rounded once are within the bounds.
#include <cmath>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

struct Ex2 {
  static double apply(double x) { return std::exp2(x); }
};
struct Lg2 {
  static double apply(double x) { return std::log2(x); }
};
struct Sin {
  static double apply(double x) { return std::sin(x); }
};
struct Cos {
  static double apply(double x) { return std::cos(x); }
};
struct Tanh {
  static double apply(double x) { return std::tanh(x); }
};

template <class Op, bool kFlushes>
struct Approximated {
  static float apply(float x) {
    const auto y = static_cast<float>(Op::apply(kFlushes ? flush(x) : x));
    return canonical(kFlushes ? flush(y) : y);
  }
  // flush() works on the float value, because bfloat16 has the exponents of float and hence the
  // same subnormal range.
  template <class H>
  static H apply(H x) {
    const H y = H::from(narrow_to_odd(Op::apply(kFlushes ? flush(x.value()) : x.value())));
    return kFlushes ? H::from(flush(y.value())) : y;
  }
};

// The 16-bit forms of an instruction: none; .f16 and .ftz.bf16 (ex2); or .f16 and .bf16 (tanh).
enum class Halves { kNone, kBfloatFlushes, kNeverFlushes };

template <class Op, Halves kHalves>
Run approximation(Decoder& d) {
  const Type type = d.type();
  d.need_operands(2);
  d.take(type);
  if (!d.has("approx")) return nullptr;
  const bool flushes = d.has("ftz");
  if (type == Type::kF32) {
    return flushes ? unary<Approximated<Op, true>, float, float>
                   : unary<Approximated<Op, false>, float, float>;
  }
  const bool is_bfloat = type == Type::kBF16 || type == Type::kBF16x2;
  if (kHalves == Halves::kNone) return nullptr;
  if (flushes != (is_bfloat && kHalves == Halves::kBfloatFlushes)) return nullptr;
  return flushes ? of_half<Unary<Approximated<Op, true>>>(type)
                 : of_half<Unary<Approximated<Op, false>>>(type);
}

}  // namespace

Run ex2(Decoder& d) { return approximation<Ex2, Halves::kBfloatFlushes>(d); }
Run lg2(Decoder& d) { return approximation<Lg2, Halves::kNone>(d); }
Run sin(Decoder& d) { return approximation<Sin, Halves::kNone>(d); }
Run cos(Decoder& d) { return approximation<Cos, Halves::kNone>(d); }
Run tanh(Decoder& d) { return approximation<Tanh, Halves::kNeverFlushes>(d); }

}  // namespace kernkit::simulator::ptx
