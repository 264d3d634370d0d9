// SPDX-License-Identifier: Apache-2.0
// What stands before a .cu file that is compiled as C++, as nvcc has cuda_runtime.h there.
#pragma once

#include <cuda_runtime.h>

#include <memory>  // says __attribute__((__noinline__)), which the word below would break

// As in NVIDIA's headers a word of .cu files only, for that reason.
#define __noinline__ __attribute__((noinline))

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
// Constraints and instructions of PTX would be refused by the assembler, with other words.
// clang-format off
#define asm _Pragma("GCC error \"kernkit: inline PTX (asm) does not run on the CPU; put it into a function of its own that has a C++ half for #if !defined(__CUDACC__)\"") asm
// clang-format on
