// SPDX-License-Identifier: Apache-2.0
// The modules that were loaded: what nvcc compiled, on a device.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "ptx/machine/heap.h"

namespace kernkit::simulator {

struct DeviceModule {
  const void* fat_binary;  // what __cudaRegisterFatBinary() was given
  int device;
  int capability;            // of the device
  unsigned long generation;  // of the runtime: variables of a module begin anew with it
  const std::map<std::string, void*>* managed;  // memory of its managed variables
};

/// A __device__ or __constant__ variable that nvcc registered.
struct VariableInfo {
  void** module;
  std::string name;  // in PTX
  size_t size;
};

/// What malloc() of kernels takes memory from on a device.
ptx::Heap& heap_of(int device);
/// Null for what is no variable.
const VariableInfo* variable_of(const void* symbol);
/// A module on the current device.
DeviceModule module_here(void** module);
/// False where its PTX can be read and has no such kernel.
bool may_have_kernel(const DeviceModule& module, const std::string& name);
/// "" or why there is no such variable, by its name in PTX; its address, and size in bytes.
std::string ptx_variable(const DeviceModule& module, const std::string& name, void** address,
                         size_t* size);

}  // namespace kernkit::simulator
