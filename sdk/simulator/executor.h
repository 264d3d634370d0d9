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

/// The attributes of a kernel's code, as cudaFuncGetAttributes() returns them.
struct KernelAttributes {
  std::vector<size_t> sizes;    ///< sizes of the arguments [bytes]
  std::vector<size_t> offsets;  ///< offsets of the arguments in parameter memory [bytes]
  size_t shared_bytes = 0;      ///< static shared memory [bytes]
  size_t constant_bytes = 0;    ///< constant memory of the module [bytes]
  size_t local_bytes = 0;       ///< local memory of a thread [bytes]
  int max_threads = 1024;       ///< maximum number of threads per block
  int capability = 0;           ///< compute capability of the compiled code, 90 for sm_90
};

/// A kernel that nvcc's code registered, or that describe_kernel() described.
struct KernelInfo {
  const void* address = nullptr;  ///< address by which the host refers to the kernel
  std::string mangled;            ///< mangled name of the kernel; "" if the name is unknown
  std::string name;               ///< C++ name of the kernel
  std::vector<size_t> sizes;      ///< sizes of the arguments [bytes]; 0 for an unknown size
  CudaInvoke invoke = nullptr;    ///< function that calls a kernel compiled as C++; otherwise null
  void** module = nullptr;        ///< module of a kernel compiled by nvcc; otherwise null
  int opted_in_shared_memory = -1;     ///< limit set by cudaFuncSetAttribute() [bytes]; -1 if unset
  bool allows_large_clusters = false;  ///< value of cudaFuncAttributeNonPortableClusterSizeAllowed
  KernelAttributes attributes;         ///< attributes, set by KernelExecutor::read_attributes()
  /// Returns the maximum dynamic shared memory of a launch [bytes].
  int max_dynamic_shared_memory() const;
  /// Returns the maximum number of blocks in a cluster on the current device: 8 on devices with
  /// clusters, 16 for a kernel that allows larger clusters.
  size_t largest_cluster() const;
};

/// A variable of a module.
struct VariableRange {
  const char* begin;  ///< address of the first byte
  size_t size;        ///< size of the variable [bytes]
};

/// Runs a launch on its device. After a fault, returns the fault's description and stores the
/// fault's error in *error. Without a fault, returns "" and stores cudaSuccess.
using GridRun = std::function<std::string(cudaError_t* error)>;

/// Interface of an executor, which runs the kernels of one kind of code. The runtime holds
/// runtime_mutex() during each call.
class KernelExecutor {
 public:
  /// Never called by the runtime: an executor lives until the process ends.
  virtual ~KernelExecutor() = default;
  /// Returns whether this executor runs the kernel. The runtime chooses the first executor that
  /// returns true.
  virtual bool runs(const KernelInfo& kernel) const = 0;
  /// Reads the attributes and the sizes of the arguments into `kernel`. Returns the reason why the
  /// kernel cannot run on the current device, or "" if the kernel can run.
  virtual std::string read_attributes(KernelInfo* kernel) = 0;
  /// Prepares a launch on the current device, and returns the function that runs the launch later.
  virtual GridRun prepare(const KernelInfo& kernel, std::shared_ptr<const CudaLaunch> launch) = 0;

  /// Frees the executor's data about a module. Called when the module is unloaded.
  virtual void unload(void** /*module*/) {}
  /// Registers a device variable of `size` bytes. Host code refers to the variable by the address
  /// `symbol`; `name` is the variable's name in the module.
  virtual void register_variable(void** /*module*/, const void* /*symbol*/, const char* /*name*/,
                                 size_t /*size*/) {}
  /// Registers a managed variable of `size` bytes. Returns the variable's memory; null if the
  /// executor does not support variables.
  virtual void* register_managed(void** /*module*/, const char* /*name*/, size_t /*size*/) {
    return nullptr;
  }
  /// Sets a module's managed variables to their initial values, once per generation of the runtime.
  virtual void begin_managed_variables(void** /*module*/) {}
  /// Returns whether an address is in a variable of this executor. If so, stores the variable's
  /// memory type and device in *attributes.
  virtual bool owns(const void* /*address*/, cudaPointerAttributes* /*attributes*/) const {
    return false;
  }
  /// Finds the variable, managed or not, that contains an address. Returns false if no variable
  /// contains the address.
  virtual bool find_variable(const void* /*address*/, VariableRange* /*variable*/) const {
    return false;
  }
};

/// Adds an executor, which must live until the process ends. Executors added earlier take
/// precedence.
void register_executor(KernelExecutor* executor);
/// Returns the executor for kernels compiled by the C++ compiler.
KernelExecutor* fiber_executor();

// Executors call the following functions of the runtime.

/// The current device of the calling thread, and the generation of the runtime.
struct ExecutionContext {
  int device;                ///< number of the current device
  int compute_capability;    ///< compute capability of the device, 90 for sm_90
  unsigned long generation;  ///< generation of the runtime; each reset starts a new generation
};
/// Returns whether a device of compute capability `device` runs machine code for one of the
/// capabilities `machine_code`. Machine code for capability X.Y runs on a device of the same major
/// version X and a minor version of at least Y.
bool runs_machine_code(const std::vector<int>& machine_code, int device);
/// Returns the compute capability of the PTX that a device of compute capability `device` executes:
/// the highest capability in `ptx` that is at most `device`. If `ptx` contains no such capability,
/// but the device runs the machine code, returns the lowest capability in `ptx`, since PTX and
/// machine code were compiled from the same source. Returns 0 if the fat binary has no code for the
/// device.
int choose_ptx(const std::vector<int>& ptx, const std::vector<int>& machine_code, int device);
/// Returns the calling thread's current device, and the generation of the runtime.
ExecutionContext execution_context();
/// Returns the settings for running kernels: seed, poison, watchdog, sampled grids
/// (schedule/schedule.h).
const Settings& execution_settings();
/// Returns the devices' allocations. Ranges closed by kernkit_close_to_kernels() are inaccessible.
const DeviceMemory& allocated_memory();
/// Returns the mutex of the runtime's state.
std::recursive_mutex& runtime_mutex();

}  // namespace kernkit::simulator
