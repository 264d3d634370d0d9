// SPDX-License-Identifier: Apache-2.0
// Kernels that use what CUDA C++ has beside C++; each fills results whose values the test knows.
#pragma once

#include "kernkit/tensor.h"

inline constexpr int kWarpResults = 20;
/// results [32, kWarpResults], int32: what each lane of a warp gets.
void warp_words(kernkit::TensorView results);
inline constexpr int kConvergedResults = 12;
/// results [29, kConvergedResults], int32: which lanes are at a place of the code; lists [3, n],
/// int32, all 0: how many elements a list has, and they.
void converged_words(kernkit::TensorView results, kernkit::TensorView lists);
/// results [64, 8], int32: barriers with predicates, groups.
void block_words(kernkit::TensorView results);
/// results [24], float32: conversions, math, 16-bit floats, vectors, device variables.
void number_words(kernkit::TensorView results);
/// results [16], int32, all 0: atomics by 64 threads of 4 blocks.
void atomic_words(kernkit::TensorView results);
/// results [12], int32, all 0: sums that wrap around, by 64 threads of 4 blocks.
void wrapping_words(kernkit::TensorView results);
/// results [64, 3], int32: functions of a device that are no macros, static __shared__ variables.
void qualified_words(kernkit::TensorView results);
