// SPDX-License-Identifier: Apache-2.0
// Kernels that use CUDA's additions to C++. Each kernel fills results whose values the test
// computes.
#pragma once

#include "kernkit/tensor.h"

inline constexpr int kWarpResults = 20;
/// results [32, kWarpResults], int32: warp functions, one row for each lane.
void run_warp_functions(kernkit::TensorView results);
inline constexpr int kConvergedResults = 12;
/// results [29, kConvergedResults], int32: the lanes that are converged at places of the code;
/// lists [3, n], int32, all 0: the number of elements of each list, and the elements.
void run_converged_lanes(kernkit::TensorView results, kernkit::TensorView lists);
/// results [64, 8], int32: barriers with predicates, groups.
void run_block_functions(kernkit::TensorView results);
/// results [24], float32: conversions, math, 16-bit floats, vectors, device variables.
void run_number_functions(kernkit::TensorView results);
/// results [16], int32, all 0: atomics by 64 threads of 4 blocks.
void run_atomics(kernkit::TensorView results);
/// results [12], int32, all 0: sums that wrap around, by 64 threads of 4 blocks.
void run_wrapping_atomics(kernkit::TensorView results);
/// results [64, 3], int32: device functions that are not macros, static __shared__ variables.
void run_qualified_functions(kernkit::TensorView results);
