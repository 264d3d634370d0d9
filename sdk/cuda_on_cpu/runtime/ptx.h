// SPDX-License-Identifier: Apache-2.0
// The second way to execute kernels: those that nvcc compiled, by their PTX. It is a library of its
// own, kernkit::cuda_on_ptx; where that is not linked, these functions are null.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "execution/schedule.h"

namespace kernkit::cuda_on_cpu {

/// An object that nvcc made, on a device.
struct DeviceModule {
  const void* fat_binary;  // what __cudaRegisterFatBinary() was given
  int device;
  int capability;            // of the device
  unsigned long generation;  // of the runtime: variables of a module begin anew with it
  const std::map<std::string, void*>* managed;  // memory of its managed variables
};

struct PtxKernel {
  DeviceModule module;
  std::string mangled;
  std::string name;  // as C++ writes it
};

/// What its PTX says of a kernel.
struct PtxAttributes {
  std::vector<size_t> sizes;  // of the arguments
  size_t shared_bytes = 0;    // static
  size_t constant_bytes = 0;  // of its module
  size_t local_bytes = 0;     // of a thread
  int max_threads = 1024;     // of a block
  int capability = 0;         // that it was compiled for
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

/// "" or why the kernel cannot run.
__attribute__((weak)) std::string prepare_ptx(const PtxKernel& kernel, PtxAttributes* attributes);
__attribute__((weak)) PtxResult run_ptx(const PtxLaunch& launch, const Settings& settings);
/// The fat binary is unloaded.
__attribute__((weak)) void forget_ptx(const void* fat_binary);
/// "" or why there is no such variable, by its name in PTX; its address, and size in bytes.
__attribute__((weak)) std::string ptx_variable(const DeviceModule& module, const std::string& name,
                                               void** address, size_t* size);
/// The device of the variable that an address lies in; -1 for other memory.
__attribute__((weak)) int ptx_device_of(const void* address);

}  // namespace kernkit::cuda_on_cpu
