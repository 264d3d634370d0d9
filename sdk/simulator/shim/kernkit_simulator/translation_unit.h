// SPDX-License-Identifier: Apache-2.0
// Prefix header of a .cu file that is compiled as C++: includes cuda_runtime.h, as nvcc does.
#pragma once

#include <cuda_runtime.h>

#include <memory>  // uses __attribute__((__noinline__)), which the macro below would break

// Only .cu files have this macro, as with NVIDIA's headers: in other files the macro would break
// standard headers.
#define __noinline__ __attribute__((noinline))

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
// The macro replaces unclear messages of the assembler about constraints and instructions of PTX.
// clang-format off
#define asm _Pragma("GCC error \"kernkit: inline PTX (asm) is not supported on the CPU; move it into a function with a C++ version for #if !defined(__CUDACC__)\"") asm
// clang-format on
