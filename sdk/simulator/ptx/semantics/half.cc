// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Half Precision Floating-Point Instructions", for .f16 and .bf16.
#include "ptx/simd/half_formats.h"

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"
#include "ptx/simd/half.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace half_steps;  // NOLINT(build/namespaces): its own steps

// Returns the form for .f16 or .f16x2, the only types with .ftz; null for other types.
template <class Form>
Run of_f16(Type type) {
  return type == Type::kF16     ? Form::template run<Half>
         : type == Type::kF16x2 ? Form::template packed<Half>
                                : nullptr;
}
template <template <class> class Form, class Op>
Run flushed_or_not(Type type, bool flushes) {
  return flushes ? of_f16<Form<Flushed<Op>>>(type) : of_half<Form<Op>>(type);
}

template <class Op>
Run least(Decoder& d, Type type, bool flushes) {
  const bool with_nan = d.has("NaN");
  if (d.has("xorsign")) {
    if (!d.has("abs")) return nullptr;
    return with_nan ? flushed_or_not<Binary, XorSign<WithNan<Op>>>(type, flushes)
                    : flushed_or_not<Binary, XorSign<Op>>(type, flushes);
  }
  return with_nan ? flushed_or_not<Binary, WithNan<Op>>(type, flushes)
                  : flushed_or_not<Binary, Op>(type, flushes);
}

template <template <class> class Form, class Op>
Run arithmetic(Type type, bool flushes, bool saturates) {
  return saturates ? flushed_or_not<Form, Sat<Op>>(type, flushes)
                   : flushed_or_not<Form, Op>(type, flushes);
}

}  // namespace

Run half_arithmetic(Decoder& d, Type type) {
  if (of_half<Unary<Neg>>(type) == nullptr) return nullptr;
  const std::string_view name = d.name();
  d.need_operands(name == "fma" ? 4 : name == "abs" || name == "neg" ? 2 : 3);
  d.take(type);
  const bool is_f16 = type == Type::kF16 || type == Type::kF16x2;
  const bool flushes = is_f16 && d.has("ftz");
  const bool may_saturate = name == "add" || name == "sub" || name == "mul" || name == "fma";
  const bool saturates = may_saturate && is_f16 && d.has("sat");
  if (name == "add") return arithmetic<Binary, Add>(type, flushes, saturates);
  if (name == "sub") return arithmetic<Binary, Sub>(type, flushes, saturates);
  if (name == "mul") return arithmetic<Binary, Mul>(type, flushes, saturates);
  if (name == "fma") {
    return !saturates && d.has("relu") ? flushed_or_not<Ternary, Relu<Fma>>(type, flushes)
                                       : arithmetic<Ternary, Fma>(type, flushes, saturates);
  }
  if (name == "min") return least<Min>(d, type, flushes);
  if (name == "max") return least<Max>(d, type, flushes);
  if (name == "abs") return flushed_or_not<Unary, Abs>(type, flushes);
  return name == "neg" ? flushed_or_not<Unary, Neg>(type, flushes) : nullptr;
}

}  // namespace kernkit::simulator::ptx
