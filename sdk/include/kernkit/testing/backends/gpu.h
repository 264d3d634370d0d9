// SPDX-License-Identifier: Apache-2.0
// Gpu: the backend of CUDA kernels on the first GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "kernkit/memory/nd_alloc.h"
#include "kernkit/testing/backends/managed_memory.h"
#include "kernkit/types/device.h"

namespace kernkit::testing {

/// The backend of CUDA kernels on the first GPU, which must be the current device.
class Gpu {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};  ///< device of tensors: cuda:0
  /// Returns the allocator of tensors' memory, valid for the whole program: managed memory, which
  /// the host may read after faults() has waited for the device. Its allocate() throws RuntimeError
  /// if CUDA fails; this function throws nothing.
  static const TestMemory& memory() { return kManagedMemory; }
  /// Waits for the current device. Returns "", or the name and the text of an error and a line
  /// feed, "cudaErrorIllegalAddress: ...\n": the error of the wait or, if the wait succeeds, this
  /// thread's last error of the runtime, which is then cleared. Throws only std::bad_alloc.
  std::string faults() {
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) return "";
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error) + "\n";
  }

  /// Allocates managed memory for Tensor::FromNDAlloc(), so that a test can read a tensor that an
  /// op returns.
  struct CudaAlloc {
    /// Sets `data` to uninitialised managed memory of the tensor's size, GetDataSize(), and of at
    /// least one byte, which FreeData() frees; the tensor's device is not read. Throws RuntimeError
    /// if CUDA fails, also without memory, and ValueError for a negative size or for more than 2^63
    /// - 1 bytes.
    void AllocData(DLTensor* tensor) const {
      tensor->data = kManagedMemory.allocate(GetDataSize(*tensor));
    }
    /// Frees the memory of AllocData(), ignoring null `data` and errors of CUDA. Throws nothing.
    void FreeData(DLTensor* tensor) const noexcept { kManagedMemory.release(tensor->data); }
  };

  /// The functions of Simulator::Runtime that contract tests call, for NVIDIA's runtime, which has
  /// no such settings. Functions that return a text or texts throw only std::bad_alloc; other
  /// functions throw nothing.
  struct Runtime {
    /// Does nothing: the number of devices of a machine cannot be set.
    explicit Runtime(int /*devices*/) {}
    /// Does nothing: kernels always run.
    void run_kernels(bool) {}
    /// Does nothing: a GPU runs blocks and threads in its own order.
    void set_seed(unsigned) {}
    /// Does nothing: no calls are recorded.
    void clear() {}
    /// Returns "": objects are not counted.
    std::string live() const { return ""; }
    /// Returns this thread's last error of the runtime as one text, "CUDA reports ...", or an empty
    /// list without an error. Keeps the error, and does not wait.
    std::vector<std::string> faults() const {
      const cudaError_t error = cudaPeekAtLastError();
      if (error == cudaSuccess) return {};
      return {std::string("CUDA reports ") + cudaGetErrorString(error)};
    }
    /// Does nothing: memory cannot be made inaccessible to kernels.
    static void close(const void*, size_t, cudaStream_t) {}
    /// Does nothing: memory cannot be made inaccessible to kernels.
    static void open(const void*, cudaStream_t) {}
  };
};

}  // namespace kernkit::testing
