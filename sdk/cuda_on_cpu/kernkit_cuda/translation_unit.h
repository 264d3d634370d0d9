// SPDX-License-Identifier: Apache-2.0
// What stands before a .cu file that is compiled as C++, as nvcc has cuda_runtime.h there.
#pragma once

#include <cuda_runtime.h>

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
// Constraints and instructions of PTX would be refused by the assembler, with other words.
// clang-format off
#define asm _Pragma("GCC error \"kernkit: inline PTX (asm) does not run on the CPU; put it into a function of its own that has a C++ half for #if !defined(__CUDACC__)\"") asm
// clang-format on
