// SPDX-License-Identifier: Apache-2.0
// Steps: the loops that are worth compiling once more for a processor with AVX2.
#pragma once

#include <cstddef>

#include "ptx/machine/operation.h"
#include "ptx/machine/simd_target.h"

namespace kernkit::simulator::ptx {

struct Steps {
  const Run* all;
  size_t count;
};

// Each compiled in both ways, with the same steps in the same order.
inline namespace KERNKIT_PTX_TARGET {
Steps integers();
Steps reals();
Steps of_warps();
Steps matrices();
}  // namespace KERNKIT_PTX_TARGET

/// A step as this processor does it fastest; of one that has one way only, that. KERNKIT_PTX_AVX2=0
/// in the environment: as every processor does it.
Run fastest(Run step);

}  // namespace kernkit::simulator::ptx
