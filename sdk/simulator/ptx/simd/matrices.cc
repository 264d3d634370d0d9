// SPDX-License-Identifier: Apache-2.0
// Loops of matrix instructions, compiled a second time for AVX2.
#include <iterator>

#include "ptx/simd/matrix.h"
#include "ptx/simd/steps.h"
#include "ptx/simd/warpgroup.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {

Steps matrices() {
  static constexpr Run kSteps[] = {matrix_steps::multiply_floats, warpgroup_steps::multiply_floats};
  return {kSteps, std::size(kSteps)};
}

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
