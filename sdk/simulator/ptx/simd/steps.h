// SPDX-License-Identifier: Apache-2.0
// Steps: loops that are compiled a second time for processors with AVX2.
#pragma once

#include <cstddef>

#include "ptx/isa/instruction.h"
#include "ptx/machine/operation.h"
#include "ptx/machine/simd_target.h"

namespace kernkit::simulator::ptx {

struct Steps {
  const Run* all;
  size_t count;
};

// Return the steps of each list in Simd. Each function is compiled a second time for AVX2; both
// versions return the same steps in the same order.
inline namespace KERNKIT_PTX_TARGET {
Steps integers();
Steps reals();
Steps of_warps();
Steps matrices();
}  // namespace KERNKIT_PTX_TARGET

/// Returns the steps of a list in the version for every processor; no steps for Simd::kNone.
Steps steps_of(Simd list);

/// Returns the fastest version of a step for this processor: the AVX2 version if the list has the
/// step and the processor has AVX2. The environment variable KERNKIT_PTX_AVX2=0 selects the version
/// for every processor.
Run fastest(Run step, Simd list);

}  // namespace kernkit::simulator::ptx
