// SPDX-License-Identifier: Apache-2.0
// Loops of shuffles and of pairs of 16-bit floats, compiled a second time for AVX2.
#include <iterator>

#include "ptx/simd/half.h"
#include "ptx/simd/shuffle.h"
#include "ptx/simd/steps.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace {

namespace half = half_steps;
namespace shuffles = shuffle_steps;

// Steps for registers with two 16-bit numbers.
template <class Op, class X>
constexpr Run kOfPairs = binary<Op, X, X, X, uint32_t, 64>;
template <class Op, class X>
constexpr Run kOfThreePairs = ternary<Op, X, X, X, X, uint32_t, 64>;

}  // namespace

Steps of_warps() {
  static constexpr Run kSteps[] = {
      shuffles::shuffle<shuffles::kUp>,  shuffles::shuffle<shuffles::kDown>,
      shuffles::shuffle<shuffles::kXor>, shuffles::shuffle<shuffles::kIndex>,
      kOfPairs<half::Add, Half>,         kOfPairs<half::Mul, Half>,
      kOfPairs<half::Add, BHalf>,        kOfPairs<half::Mul, BHalf>,
      kOfThreePairs<half::Fma, Half>,    kOfThreePairs<half::Fma, BHalf>,
  };
  return {kSteps, std::size(kSteps)};
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
