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

template <class Op>
Run least(Decoder& d, Type type) {
  return d.has("NaN") ? of_half<Binary<WithNan<Op>>>(type) : of_half<Binary<Op>>(type);
}

template <template <class> class Form, class Op>
Run arithmetic(Type type, bool saturates) {
  return saturates ? of_half<Form<Sat<Op>>>(type) : of_half<Form<Op>>(type);
}

}  // namespace

Run half_arithmetic(Decoder& d, Type type) {
  if (of_half<Unary<Neg>>(type) == nullptr) return nullptr;
  const std::string_view name = d.name();
  d.need_operands(name == "fma" ? 4 : name == "abs" || name == "neg" ? 2 : 3);
  d.take(type);
  const bool may_saturate = name == "add" || name == "sub" || name == "mul" || name == "fma";
  const bool saturates =
      may_saturate && (type == Type::kF16 || type == Type::kF16x2) && d.has("sat");
  if (name == "add") return arithmetic<Binary, Add>(type, saturates);
  if (name == "sub") return arithmetic<Binary, Sub>(type, saturates);
  if (name == "mul") return arithmetic<Binary, Mul>(type, saturates);
  if (name == "fma") {
    return !saturates && d.has("relu") ? of_half<Ternary<Relu<Fma>>>(type)
                                       : arithmetic<Ternary, Fma>(type, saturates);
  }
  if (name == "min") return least<Min>(d, type);
  if (name == "max") return least<Max>(d, type);
  if (name == "abs") return of_half<Unary<Abs>>(type);
  return name == "neg" ? of_half<Unary<Neg>>(type) : nullptr;
}

}  // namespace kernkit::simulator::ptx
