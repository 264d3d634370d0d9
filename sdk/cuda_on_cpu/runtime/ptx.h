// SPDX-License-Identifier: Apache-2.0
// The second way to execute kernels: those that nvcc compiled, by their PTX. It is a library of its
// own, kernkit::cuda_on_ptx; where that is not linked, these functions are null.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "execution/grid.h"

namespace kernkit::cuda_on_cpu {

/// A kernel of an object that nvcc made.
struct PtxKernel {
  const void* fat_binary;  // what __cudaRegisterFatBinary() was given
  std::string mangled;
  std::string name;  // as C++ writes it
  int device;
  int capability;            // of the device
  unsigned long generation;  // of the runtime: variables of a module begin anew with it
};

struct PtxLaunch {
  PtxKernel kernel;
  dim3 grid, block;
  size_t shared_memory;
  bool cooperative;
  std::vector<std::vector<unsigned char>> arguments;
};

struct PtxResult {
  std::string sentence;  // "" or what the kernel did wrong
  cudaError_t error = cudaSuccess;
};

/// "" or why the kernel cannot run; the sizes of its arguments.
__attribute__((weak)) std::string prepare_ptx(const PtxKernel& kernel, std::vector<size_t>* sizes);
__attribute__((weak)) PtxResult run_ptx(const PtxLaunch& launch, const Settings& settings);
/// The fat binary is unloaded.
__attribute__((weak)) void forget_ptx(const void* fat_binary);
/// A variable of a module, by its name in PTX; null when there is none.
__attribute__((weak)) void* ptx_variable(const PtxKernel& of_module, const std::string& variable,
                                         size_t* size);

}  // namespace kernkit::cuda_on_cpu
