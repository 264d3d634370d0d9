// SPDX-License-Identifier: Apache-2.0
// Simulator: the backend of CUDA kernels that run without a GPU, compiled for fibers or as PTX.
#pragma once

#include <string>
#include <vector>

#include "kernkit/simulator/runtime.h"
#include "kernkit/testing/tensor.h"
#include "kernkit/types/device.h"
#if defined(KERNKIT_ON_PTX)
#include "kernkit/testing/backends/managed_memory.h"
#endif

namespace kernkit::testing {

/// A simulated device, whose blocks and threads run in an order that a seed determines. Of a grid
/// of more than 65,536 blocks only 144 run, the first and the last among them, and a large
/// allocation occupies memory only where it is accessed: see CudaRuntime::sample_blocks().
class Simulator {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};  ///< device of tensors: cuda:0
  /// Returns the allocator of tensors' memory, valid for the whole program: for PTX managed memory,
  /// whose allocate() throws RuntimeError if CUDA fails, otherwise kHostMemory. After a call of
  /// faults(), the host may read what kernels wrote. Throws nothing.
  static const TestMemory& memory() {
#if defined(KERNKIT_ON_PTX)
    return kManagedMemory;  // PTX can only access memory of CUDA
#else
    return kHostMemory;
#endif
  }

  /// Resets the runtime to one device with 64 GiB of memory, sets seed 1, and lets kernels run; see
  /// CudaRuntime. Only one CudaRuntime, Simulator, Runtime or CudaTarget may exist at a time.
  /// Throws only std::bad_alloc.
  Simulator() {
    runtime_.run_kernels(true);
    runtime_.set_seed(1, true);
    runtime_.sample_blocks(1 << 16, 144);
  }
  /// Waits for the current device, ignoring the error of the wait. Returns the faults since the
  /// constructor (CudaRuntime::faults()), each followed by a line feed; "" without faults. Throws
  /// only std::bad_alloc.
  std::string faults() {
    (void)cudaDeviceSynchronize();
    std::string text;
    for (const std::string& fault : runtime_.faults()) text += fault + "\n";
    return text;
  }

  /// The runtime that a contract test changes and reads: a CudaRuntime of several devices.
  struct Runtime : simulator::CudaRuntime {
    /// Resets the runtime to `devices` devices, each with the defaults of CudaDevice. With 0
    /// devices, calls that reach a device return cudaErrorNoDevice. Kernels do not run before
    /// run_kernels(true). Only one CudaRuntime, Simulator, Runtime or CudaTarget may exist at a
    /// time. Throws std::length_error for a negative number, and std::bad_alloc.
    explicit Runtime(int devices)
        : CudaRuntime(std::vector<simulator::CudaDevice>(static_cast<size_t>(devices))) {}
    /// Makes an access of a kernel to `bytes` bytes at `memory` a fault, from the stream's next
    /// work on. Ignores memory that is not in an allocation of the runtime. See
    /// kernkit_close_to_kernels(). Does not wait. Throws only std::bad_alloc.
    static void close(const void* memory, size_t bytes, cudaStream_t stream) {
      kernkit_close_to_kernels(memory, bytes, stream);
    }
    /// Undoes every close() of the allocation that contains `memory`, from the stream's next work
    /// on. See kernkit_open_to_kernels(). Does not wait. Throws only std::bad_alloc.
    static void open(const void* memory, cudaStream_t stream) {
      kernkit_open_to_kernels(memory, stream);
    }
  };

 private:
  static std::vector<simulator::CudaDevice> devices() {
    simulator::CudaDevice device;
    device.memory = size_t{1} << 36;
    return {device};
  }

  simulator::CudaRuntime runtime_{devices()};
};

}  // namespace kernkit::testing
