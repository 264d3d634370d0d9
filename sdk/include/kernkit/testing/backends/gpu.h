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

class Gpu {
 public:
  static constexpr DLDevice kDevice{kDLCUDA, 0};
  static const TestMemory& memory() { return kManagedMemory; }
  std::string faults() {
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) return "";
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error) + "\n";
  }

  /// Managed memory: a test reads what an op made.
  struct CudaAlloc {
    void AllocData(DLTensor* tensor) const {
      tensor->data = kManagedMemory.allocate(GetDataSize(*tensor));
    }
    void FreeData(DLTensor* tensor) const noexcept { kManagedMemory.release(tensor->data); }
  };

  /// NVIDIA's runtime has no settings; its only fault is the last error.
  struct Runtime {
    explicit Runtime(int /*devices*/) {}
    void run_kernels(bool) {}
    void set_seed(unsigned) {}
    void clear() {}
    std::string live() const { return ""; }
    std::vector<std::string> faults() const {
      const cudaError_t error = cudaPeekAtLastError();
      if (error == cudaSuccess) return {};
      return {std::string("CUDA reports ") + cudaGetErrorString(error)};
    }
    static void close(const void*, size_t, cudaStream_t) {}
    static void open(const void*, cudaStream_t) {}
  };
};

}  // namespace kernkit::testing
