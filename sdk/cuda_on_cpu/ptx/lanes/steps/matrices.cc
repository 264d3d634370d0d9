// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "ptx/lanes/steps/matrix.h"
#include "ptx/lanes/steps/steps.h"

namespace kernkit::cuda_on_cpu::ptx {
inline namespace KERNKIT_PTX_WAY {

Steps matrices() {
  static constexpr Run kSteps[] = {matrix_steps::multiply_floats};
  return {kSteps, std::size(kSteps)};
}

}  // namespace KERNKIT_PTX_WAY
}  // namespace kernkit::cuda_on_cpu::ptx
