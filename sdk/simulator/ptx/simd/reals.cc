// SPDX-License-Identifier: Apache-2.0
// Loops of floating-point instructions, compiled a second time for AVX2.
#include <iterator>

#include "ptx/simd/real.h"
#include "ptx/simd/steps.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace {

namespace real = real_steps;

}  // namespace

Steps reals() {
  static constexpr Run kSteps[] = {
      binary<real::Add, float, float>,
      binary<real::Flushed<real::Add>, float, float>,
      binary<real::Add, double, double>,
      binary<real::Sub, float, float>,
      binary<real::Flushed<real::Sub>, float, float>,
      binary<real::Sub, double, double>,
      binary<real::Mul, float, float>,
      binary<real::Flushed<real::Mul>, float, float>,
      binary<real::Mul, double, double>,
      ternary<real::Fma, float, float>,
      ternary<real::Flushed<real::Fma>, float, float>,
      ternary<real::Fma, double, double>,
      binary<real::Div, float, float>,
      unary<real::Rcp, float, float>,
      unary<real::Sqrt, float, float>,
      unary<real::Rsqrt, float, float>,
      binary<real::Min, float, float>,
      binary<real::Max, float, float>,
      binary<real::Flushed<real::Max>, float, float>,
      unary<real::Abs, float, float>,
      unary<real::Neg, float, float>,
  };
  return {kSteps, std::size(kSteps)};
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
