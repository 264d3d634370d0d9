// SPDX-License-Identifier: Apache-2.0
// Kernels that use CUDA's additions to C++. Each kernel fills results whose values the test
// computes.
#pragma once

#include "kernkit/tensor.h"

inline constexpr int kWarpResults = 20;
/// Calls warp functions. results [32, kWarpResults], int32: one row for each lane.
void run_warp_functions(kernkit::TensorView results);
inline constexpr int kConvergedResults = 12;
/// Records which lanes are converged at several points of a kernel. results [29,
/// kConvergedResults], int32. lists [3, n], int32, all 0: the number of elements of each list, and
/// the elements.
void run_converged_lanes(kernkit::TensorView results, kernkit::TensorView lists);
/// Calls barriers with predicates, and functions of cooperative groups. results [64, 8], int32.
void run_block_functions(kernkit::TensorView results);
/// Calls conversions and math functions, and uses 16-bit floats, vectors and device variables.
/// results [24], float32.
void run_number_functions(kernkit::TensorView results);
/// Calls atomics in 4 blocks of 64 threads. results [16], int32, all 0.
void run_atomics(kernkit::TensorView results);
/// Adds values whose sums wrap around, in 4 blocks of 64 threads. results [12], int32, all 0.
void run_wrapping_atomics(kernkit::TensorView results);
/// Runs 4 blocks. The threads of a block meet at a barrier in a loop until all blocks have started.
/// results [6], int32, all 0: the number of blocks that started, the number of iterations of all
/// blocks, and for each block the number of blocks that had started when the block ended.
void run_waiting_blocks(kernkit::TensorView results);
/// Calls device functions that are not macros, and uses static __shared__ variables. results [64,
/// 3], int32.
void run_qualified_functions(kernkit::TensorView results);
