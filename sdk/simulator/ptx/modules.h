// SPDX-License-Identifier: Apache-2.0
// The loaded modules of code compiled by nvcc, on a device.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "ptx/machine/heap.h"

namespace kernkit::simulator {

struct DeviceModule {
  const void* fat_binary;  // argument of __cudaRegisterFatBinary()
  int device;
  int capability;            // compute capability of the device
  unsigned long generation;  // generation of the runtime; a new generation reinitialises variables
  const std::map<std::string, void*>* managed;  // memory of managed variables, by name
};

/// A __device__ or __constant__ variable that nvcc's code registered.
struct VariableInfo {
  void** module;
  std::string name;  // name in PTX
  size_t size;
};

/// Returns the heap of malloc() in kernels on a device.
ptx::Heap& heap_of(int device);
/// Returns the variable that the host code registered with the address `symbol`; null for other
/// addresses.
const VariableInfo* variable_of(const void* symbol);
/// Returns a registered module, as loaded on the current device.
DeviceModule module_here(void** module);
/// Returns the reason why the module's PTX cannot be read, or "".
std::string problem_of_module(const DeviceModule& module);
/// Returns false if the module's PTX can be read and does not contain the kernel.
bool may_have_kernel(const DeviceModule& module, const std::string& name);
/// Finds a variable by its name in PTX, and stores its address and size [bytes]. Returns the reason
/// of a failure, or "".
std::string ptx_variable(const DeviceModule& module, const std::string& name, void** address,
                         size_t* size);

}  // namespace kernkit::simulator
