// SPDX-License-Identifier: Apache-2.0
// KernelExecutor: the interface by which the runtime runs kernels. The fiber executor runs kernels
// compiled by the C++ compiler, the PTX executor kernels compiled by nvcc. The functions of the
// runtime for executors follow the interface.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device_memory.h"

namespace kernkit::simulator {

struct CudaLaunch;
struct Settings;

/// The attributes of a kernel's code.
struct KernelAttributes {
  std::vector<size_t> sizes;  // sizes of the arguments [bytes]
  size_t shared_bytes = 0;    // static shared memory [bytes]
  size_t constant_bytes = 0;  // constant memory of the module [bytes]
  size_t local_bytes = 0;     // local memory of a thread [bytes]
  int max_threads = 1024;     // most threads of a block
  int capability = 0;         // compute capability for which the kernel was compiled
};

/// A kernel that nvcc's code registered or a test described.
struct KernelInfo {
  const void* address = nullptr;  // address by which the host refers to the kernel
  std::string mangled;
  std::string name;                 // C++ name of the kernel
  std::vector<size_t> sizes;        // sizes of the arguments [bytes]; 0 for an unknown size
  CudaInvoke invoke = nullptr;      // function that calls a kernel compiled by the C++ compiler
  void** module = nullptr;          // module of a kernel compiled by nvcc
  int opted_in_shared_memory = -1;  // limit set by cudaFuncSetAttribute() [bytes]; -1 if unset
  KernelAttributes attributes;
  /// The most dynamic shared memory that a launch may request [bytes].
  int max_dynamic_shared_memory() const;
};

/// A variable of a module.
struct VariableRange {
  const char* begin;
  size_t size;  // size of the variable [bytes]
};

/// Runs a launch on its device. Returns the description of a fault, or "", and stores the error.
using GridRun = std::function<std::string(cudaError_t* error)>;

class KernelExecutor {
 public:
  virtual ~KernelExecutor() = default;
  virtual bool runs(const KernelInfo& kernel) const = 0;
  /// Reads the attributes and the sizes of the arguments. Returns the reason why the kernel cannot
  /// run, or "".
  virtual std::string read_attributes(KernelInfo* kernel) = 0;
  /// Prepares a launch on the current device, to be run later.
  virtual GridRun prepare(const KernelInfo& kernel, std::shared_ptr<const CudaLaunch> launch) = 0;

  /// Called when a module is unloaded.
  virtual void unload(void** /*module*/) {}
  /// Registers a variable by the address that the host's code uses.
  virtual void register_variable(void** /*module*/, const void* /*symbol*/, const char* /*name*/,
                                 size_t /*size*/) {}
  /// Registers a managed variable. Returns its memory; null if the executor has no variables.
  virtual void* register_managed(void** /*module*/, const char* /*name*/, size_t /*size*/) {
    return nullptr;
  }
  /// Sets a module's managed variables to their initial values, once in each generation.
  virtual void begin_managed_variables(void** /*module*/) {}
  /// Returns whether an address is in a variable, and stores the variable's kind and device.
  virtual bool owns(const void* /*address*/, cudaPointerAttributes* /*attributes*/) const {
    return false;
  }
  /// Finds the variable around an address, including managed variables.
  virtual bool find_variable(const void* /*address*/, VariableRange* /*variable*/) const {
    return false;
  }
};

/// Adds an executor, which lives until the process ends.
void register_executor(KernelExecutor* executor);
/// The executor for kernels compiled by the C++ compiler.
KernelExecutor* fiber_executor();

// Functions of the runtime for executors.

/// The current device of the calling thread, and the generation of the runtime, which changes with
/// each reset.
struct ExecutionContext {
  int device;
  int compute_capability;
  unsigned long generation;
};
ExecutionContext execution_context();
const Settings& execution_settings();
/// Returns the allocations of the devices that kernels may access.
const DeviceMemory& allocated_memory();
std::recursive_mutex& runtime_mutex();

}  // namespace kernkit::simulator
