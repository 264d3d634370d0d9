// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "execution_target.h"

namespace kernkit::simulator::execution_target {
namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess ? value : 0;
}

}  // namespace

std::string begin(int needed) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    const cudaError_t problem = error != cudaSuccess ? error : cudaErrorNoDevice;
    (void)cudaGetLastError();
    return std::string("no CUDA device: ") + cudaGetErrorName(problem) + ": " +
           cudaGetErrorString(problem);
  }
  const int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
                         attribute(cudaDevAttrComputeCapabilityMinor);
  if (capability == needed || (needed == 90 && capability > needed)) return "";
  return "a device of compute capability " + std::to_string(capability / 10) + "." +
         std::to_string(capability % 10) + ", and these forms need " + std::to_string(needed / 10) +
         ".0";
}

void end() {}

std::string fault() {
  const cudaError_t waited = cudaDeviceSynchronize(), last = cudaGetLastError();
  const cudaError_t error = waited != cudaSuccess ? waited : last;
  return error == cudaSuccess ? "none" : cudaGetErrorName(error);
}

void set_seed(unsigned) {}

bool is_simulator() { return false; }

std::map<std::string, std::string> simd_forms(const std::string&) { return {}; }

}  // namespace kernkit::simulator::execution_target
