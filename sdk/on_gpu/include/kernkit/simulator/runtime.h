// SPDX-License-Identifier: Apache-2.0
// Replaces the header of the same name on a GPU: the part of CudaRuntime that a CudaPlace uses.
// NVIDIA's runtime has no settings; its error is the only fault.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace kernkit::simulator {
inline namespace on_gpu {  // a class of its own, so that the simulator's can be linked as well

struct CudaDevice {};

class CudaRuntime {
 public:
  explicit CudaRuntime(const std::vector<CudaDevice>&) {}
  void run_kernels(bool) {}
  void set_seed(unsigned) {}
  void clear() {}
  std::string live() const { return ""; }
  std::vector<std::string> faults() const {
    const cudaError_t error = cudaPeekAtLastError();
    if (error == cudaSuccess) return {};
    return {std::string("CUDA says ") + cudaGetErrorString(error)};
  }
};

}  // namespace on_gpu
}  // namespace kernkit::simulator

inline void kernkit_close_to_kernels(const void*, size_t, cudaStream_t) {}
inline void kernkit_open_to_kernels(const void*, cudaStream_t) {}
