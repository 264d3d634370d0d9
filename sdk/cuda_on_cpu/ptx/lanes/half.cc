// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Half Precision Floating-Point Instructions", and the same of .bf16.
#include "ptx/lanes/half.h"

#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"
#include "ptx/lanes/steps/half.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

using namespace half_steps;  // NOLINT(build/namespaces): its own steps

template <class Op>
Run least(Decoder& d, Type type) {
  return d.has("NaN") ? of_half<Binary<WithNan<Op>>>(type) : of_half<Binary<Op>>(type);
}

}  // namespace

Run half_arithmetic(Decoder& d, Type type) {
  if (of_half<Unary<Neg>>(type) == nullptr) return nullptr;
  const std::string_view name = d.name();
  d.ignore({"rn"});
  d.need_operands(name == "fma" ? 4 : name == "abs" || name == "neg" ? 2 : 3);
  d.take(type);
  if (name == "add") return of_half<Binary<Add>>(type);
  if (name == "sub") return of_half<Binary<Sub>>(type);
  if (name == "mul") return of_half<Binary<Mul>>(type);
  if (name == "fma") {
    return d.has("relu") ? of_half<Ternary<Relu<Fma>>>(type) : of_half<Ternary<Fma>>(type);
  }
  if (name == "min") return least<Min>(d, type);
  if (name == "max") return least<Max>(d, type);
  if (name == "abs") return of_half<Unary<Abs>>(type);
  return name == "neg" ? of_half<Unary<Neg>>(type) : nullptr;
}

}  // namespace kernkit::cuda_on_cpu::ptx
