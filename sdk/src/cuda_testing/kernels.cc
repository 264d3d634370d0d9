// SPDX-License-Identifier: Apache-2.0
// What is known of kernels.
#include <algorithm>

#include "demangle.h"
#include "sanitizers.h"
#include "state.h"
#include "symbol_table.h"

namespace kernkit::testing {

void describe_kernel(const void* kernel, CudaInvoke invoke, const size_t* sizes, size_t count) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  KernelInfo& info = state().kernels[kernel];
  if (info.invoke != nullptr) return;
  info.invoke = invoke;
  info.sizes.assign(sizes, sizes + count);
  const RaceIgnored bookkeeping;
  info.mangled = function_at(kernel);
  if (!info.mangled.empty()) info.name = demangle(info.mangled);
}

KernelInfo* find_kernel(const void* kernel) {
  const auto found = state().kernels.find(kernel);
  return found == state().kernels.end() ? nullptr : &found->second;
}

// Registers are not known here, so threads and shared memory alone decide.
size_t blocks_per_sm(size_t threads, size_t shared_memory) {
  const size_t by_threads = std::min<size_t>(2048 / threads, 32);
  const auto per_sm = static_cast<size_t>(current_device().shared_memory_per_block_opt_in) + 1024;
  return std::min(by_threads, per_sm / (shared_memory + 1024));
}

}  // namespace kernkit::testing

using namespace kernkit::testing;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", Reach::kDevice, [&] {
    // Made known by its launch only, when no CUDA compiler registered it.
    KernelInfo& info = state().kernels[kernel];
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value > current_device().shared_memory_per_block_opt_in) {
      return cudaErrorInvalidValue;
    }
    info.max_dynamic_shared_memory = value;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call("cudaFuncGetAttributes", Reach::kDevice, [&] {
    const KernelInfo* info = find_kernel(kernel);
    if (info == nullptr) return cudaErrorInvalidDeviceFunction;
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->maxDynamicSharedSizeBytes = info->max_dynamic_shared_memory;
    attributes->binaryVersion = attributes->ptxVersion = current_device().compute_capability;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const KernelInfo* info = find_kernel(kernel);
  const RaceIgnored bookkeeping;
  // Compiled for the CPU, a kernel is known from its first launch on only.
  static auto& found = *new std::set<std::string>;
  const bool known = info != nullptr && !info->mangled.empty();
  *name = found.insert(known ? info->mangled : function_at(kernel)).first->c_str();
  return **name != '\0' ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, size_t shared_memory) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Reach::kDevice, [&] {
    if (find_kernel(kernel) == nullptr) return cudaErrorInvalidDeviceFunction;
    if (threads < 1 || threads > 1024) return cudaErrorInvalidValue;
    *blocks = static_cast<int>(blocks_per_sm(static_cast<size_t>(threads), shared_memory));
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads,
                                                                   size_t shared_memory, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_memory);
}

}  // extern "C"
