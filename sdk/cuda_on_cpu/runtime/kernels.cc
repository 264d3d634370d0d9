// SPDX-License-Identifier: Apache-2.0
// What is known of kernels.
#include <algorithm>

#include "process/demangle.h"
#include "process/sanitizers.h"
#include "process/symbol_table.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

// Shared memory that the system takes of each block, in bytes: compute capability 8.0 and later.
constexpr size_t kReserved = 1024;

}  // namespace

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
  const bool known = found != state().kernels.end() &&
                     (found->second.invoke != nullptr || found->second.module != nullptr);
  return known ? &found->second : nullptr;
}

cudaError_t refuse_launch_by_address(const void* kernel) {
  const RaceIgnored bookkeeping;
  const std::string name = function_at(kernel);
  note_fault(std::string(thread_state().function) + "(): of " +
             (name.empty() ? "this kernel" : demangle(name)) +
             " only the address is known, not what its arguments are: give the kernel itself, "
             "without a cast to void*");
  return cudaErrorInvalidDeviceFunction;
}

namespace {

// Of a kernel that was given by its address alone, how to call it may become known later.
KernelInfo* kernel_at(const void* address) {
  if (KernelInfo* known = find_kernel(address)) return known;
  const RaceIgnored bookkeeping;
  return is_code(address) ? &state().kernels[address] : nullptr;
}

}  // namespace

// Registers are not known here, so threads and shared memory alone decide.
size_t blocks_per_sm(size_t threads, size_t shared_memory) {
  const size_t by_threads = std::min<size_t>(2048 / threads, 32);
  const auto opt_in = static_cast<size_t>(current_device().shared_memory_per_block_opt_in);
  return std::min(by_threads, (opt_in + kReserved) / (shared_memory + kReserved));
}

}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", Reach::kDevice, [&] {
    KernelInfo* info = kernel_at(kernel);
    if (info == nullptr) return cudaErrorInvalidDeviceFunction;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value > current_device().shared_memory_per_block_opt_in) {
      return cudaErrorInvalidValue;
    }
    info->max_dynamic_shared_memory = value;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call("cudaFuncGetAttributes", Reach::kDevice, [&] {
    const KernelInfo* info = kernel_at(kernel);
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
    if (kernel_at(kernel) == nullptr) return cudaErrorInvalidDeviceFunction;
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
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared_memory, const void* kernel,
                                                      int blocks, int threads) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", Reach::kDevice, [&] {
    if (kernel_at(kernel) == nullptr) return cudaErrorInvalidDeviceFunction;
    if (blocks < 1 || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
    const auto count = static_cast<size_t>(blocks);
    if (blocks_per_sm(static_cast<size_t>(threads), 0) < count) return cudaErrorInvalidValue;
    const auto opt_in = static_cast<size_t>(current_device().shared_memory_per_block_opt_in);
    *shared_memory = std::min((opt_in + kReserved) / count - kReserved, opt_in);
    return cudaSuccess;
  });
}

}  // extern "C"
