// SPDX-License-Identifier: Apache-2.0
// KernelExecutor: how the runtime runs kernels. There are two executors: fibers run .cu files that
// the C++ compiler compiled, PTX is run for what nvcc compiled. What an executor needs of the
// runtime is below its interface.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "device_memory.h"

namespace kernkit::simulator {

struct CudaLaunch;
struct Settings;

/// What the code of a kernel determines.
struct KernelAttributes {
  std::vector<size_t> sizes;  // of the arguments [bytes]
  size_t shared_bytes = 0;    // static
  size_t constant_bytes = 0;  // of its module
  size_t local_bytes = 0;     // of a thread
  int max_threads = 1024;     // of a block
  int capability = 0;         // the compute capability that the kernel was compiled for
};

/// A kernel that nvcc registered or that was described.
struct KernelInfo {
  const void* address = nullptr;  // by which the host names the kernel
  std::string mangled;
  std::string name;                 // as C++ writes it
  std::vector<size_t> sizes;        // of the arguments [bytes]; 0: unknown
  CudaInvoke invoke = nullptr;      // calls a kernel that the C++ compiler compiled
  void** module = nullptr;          // of a kernel that nvcc compiled
  int opted_in_shared_memory = -1;  // by cudaFuncSetAttribute() [bytes]; -1: not set
  KernelAttributes attributes;
  /// The most dynamic shared memory that a launch may request [bytes].
  int max_dynamic_shared_memory() const;
};

/// A variable of a module.
struct VariableRange {
  const char* begin;
  size_t size;  // [bytes]
};

/// Runs a launch on its device. Returns "" or what the kernel did wrong, and the error for that.
using GridRun = std::function<std::string(cudaError_t* error)>;

class KernelExecutor {
 public:
  virtual ~KernelExecutor() = default;
  virtual bool runs(const KernelInfo& kernel) const = 0;
  /// Reads the attributes and the sizes of the arguments. Returns "" or why the kernel cannot run.
  virtual std::string read_attributes(KernelInfo* kernel) = 0;
  /// A launch on the current device, to be run later.
  virtual GridRun prepare(const KernelInfo& kernel, const CudaLaunch& launch) = 0;

  /// A module is unloaded.
  virtual void unload(void** /*module*/) {}
  /// A variable that the host names by an address.
  virtual void register_variable(void** /*module*/, const void* /*symbol*/, const char* /*name*/,
                                 size_t /*size*/) {}
  /// A managed variable. Returns its memory; null if the executor has no variables.
  virtual void* register_managed(void** /*module*/, const char* /*name*/, size_t /*size*/) {
    return nullptr;
  }
  /// Sets a module's managed variables to their first values, once in each generation.
  virtual void begin_managed_variables(void** /*module*/) {}
  /// Whether an address is in a variable; the kind of the variable and its device.
  virtual bool owns(const void* /*address*/, cudaPointerAttributes* /*attributes*/) const {
    return false;
  }
  /// The variable around an address, managed variables included.
  virtual bool find_variable(const void* /*address*/, VariableRange* /*variable*/) const {
    return false;
  }
};

/// Adds an executor, which lives until the process ends.
void register_executor(KernelExecutor* executor);
/// The executor for kernels that the C++ compiler compiled.
KernelExecutor* fiber_executor();

// What executors need of the runtime.

/// The current device of the calling thread, and how often the runtime was reset.
struct ExecutionContext {
  int device;
  int compute_capability;
  unsigned long generation;
};
ExecutionContext execution_context();
const Settings& execution_settings();
/// Allocations of the devices, as kernels may access them.
const DeviceMemory& allocated_memory();
std::recursive_mutex& runtime_mutex();

}  // namespace kernkit::simulator
