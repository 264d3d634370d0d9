// SPDX-License-Identifier: Apache-2.0
// The second way to execute kernels: those that nvcc compiled, by their PTX. It is a library of its
// own, kernkit::simulator_ptx; where that is not linked, these functions are null.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kernkit::simulator {

struct CudaLaunch;
struct KernelInfo;

/// What its PTX says of a kernel.
struct PtxAttributes {
  std::vector<size_t> sizes;  // of the arguments
  size_t shared_bytes = 0;    // static
  size_t constant_bytes = 0;  // of its module
  size_t local_bytes = 0;     // of a thread
  int max_threads = 1024;     // of a block
  int capability = 0;         // that it was compiled for
};

/// Starts the tools that the environment names, once.
__attribute__((weak)) void begin_session();
/// Reads them and the sizes of the arguments. Says why the kernel cannot run.
__attribute__((weak)) cudaError_t read_ptx(KernelInfo* kernel);
/// What runs a launch on the current device: returns "" or what the kernel did wrong, as which
/// error.
using GridRun = std::function<std::string(cudaError_t* error)>;
__attribute__((weak)) GridRun ptx_run(const KernelInfo& kernel, const CudaLaunch& launch);
/// The fat binary is unloaded.
__attribute__((weak)) void forget_ptx(void** module);
/// A variable that the host names by an address; a managed one by that of its memory, which is
/// made.
__attribute__((weak)) void register_variable(void** module, const void* symbol, const char* name,
                                             size_t size);
__attribute__((weak)) void* register_managed(void** module, const char* name, size_t size);
/// Gives a module's managed variables their first values, once in each generation.
__attribute__((weak)) void begin_managed_variables(void** module);
/// Whether an address lies in a variable; of which kind it is and of which device.
__attribute__((weak)) bool is_ptx_variable(const void* address, cudaPointerAttributes* attributes);
/// The variable around an address, a managed one too.
struct VariableRange {
  const char* begin;
  size_t size;  // [bytes]
};
__attribute__((weak)) bool ptx_variable_around(const void* address, VariableRange* variable);
/// The device of the variable that an address lies in; -1 for other memory.
__attribute__((weak)) int ptx_device_of(const void* address);

}  // namespace kernkit::simulator
