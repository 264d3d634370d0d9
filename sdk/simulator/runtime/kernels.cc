// SPDX-License-Identifier: Apache-2.0
// Kernels: their descriptions, attributes and occupancy.
#include <dlfcn.h>

#include <algorithm>

#include "platform/demangle.h"
#include "platform/sanitizers.h"
#include "platform/symbol_table.h"
#include "runtime/core/kernels.h"
#include "runtime/device_attributes.h"
#include "runtime/state.h"

namespace kernkit::simulator {
void describe_kernel(const void* kernel, CudaInvoke invoke, const size_t* sizes, size_t count) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  KernelInfo& info = state().kernels[kernel];
  if (info.invoke != nullptr) return;
  info.address = kernel;
  info.invoke = invoke;
  info.sizes.assign(sizes, sizes + count);
  const RaceIgnored bookkeeping;
  info.mangled = function_at(kernel);
  if (!info.mangled.empty()) info.name = demangle(info.mangled);
}

KernelInfo* find_kernel(const void* kernel) {
  const auto position = state().kernels.find(kernel);
  const bool is_registered =
      position != state().kernels.end() &&
      (position->second.invoke != nullptr || position->second.module != nullptr);
  return is_registered ? &position->second : nullptr;
}

namespace {

// Returns the reason why a device cannot run the code of a fat binary, such as "libscale.so has
// machine code only (sm_80), ...".
std::string lack_of_ptx(const void* fat_binary, const ModuleInfo& code, int device) {
  const auto list = [](const char* kind, const std::vector<int>& capabilities) {
    std::string text;
    for (const int capability : std::set<int>(capabilities.begin(), capabilities.end())) {
      text += (text.empty() ? "" : ", ") + (kind + std::to_string(capability));
    }
    return text;
  };
  Dl_info file{};
  std::string name = "its module";
  if (dladdr(fat_binary, &file) != 0 && file.dli_fname != nullptr) {
    name = file.dli_fname;
    name = name.substr(name.rfind('/') + 1);
  }
  if (code.ptx.empty()) {
    const std::string machine_code = list("sm_", code.machine_code);
    return name +
           (machine_code.empty()
                ? " has no PTX"
                : " has machine code only (" + machine_code + "), which runs on a GPU only") +
           ": compile it with PTX, as nvcc's -arch=compute_80 does";
  }
  const int first = *std::min_element(code.ptx.begin(), code.ptx.end());
  return name + " has PTX of " + list("compute_", code.ptx) +
         "; the device has compute capability " + capability_text(device) +
         ": set KERNKIT_CAPABILITY=" + std::to_string(first) +
         ", or compile it with PTX of an earlier compute capability";
}

}  // namespace

cudaError_t read_kernel(KernelInfo* kernel) {
  KernelExecutor* executor = executor_of(*kernel);
  if (executor == nullptr || kernel->module == nullptr) return cudaSuccess;
  const ModuleInfo& code = state().modules.at(kernel->module);
  const int device = current_device().compute_capability;
  const RaceIgnored bookkeeping;
  if (choose_ptx(code.ptx, code.machine_code, device) != 0) {
    const std::string why = executor->read_attributes(kernel);
    if (why.empty()) return cudaSuccess;
    note_fault(kernel->name + " cannot run: " + why);
    return cudaErrorNotSupported;
  }
  note_fault(kernel->name + " cannot run: " + lack_of_ptx(*kernel->module, code, device));
  return cudaErrorNoKernelImageForDevice;
}

int KernelInfo::max_dynamic_shared_memory() const {
  if (opted_in_shared_memory >= 0) return opted_in_shared_memory;
  return std::max(0, 48 * 1024 - static_cast<int>(attributes.shared_bytes));
}

cudaError_t reject_launch_by_address(const void* kernel) {
  const RaceIgnored bookkeeping;
  const std::string name = function_at(kernel);
  note_fault(std::string(thread_state().function) + "(): func: the address of " +
             (name.empty() ? "this kernel" : demangle(name)) +
             " without argument types is not supported: pass the kernel itself, without a cast to "
             "void*");
  return cudaErrorInvalidDeviceFunction;
}

namespace {

// Reads the attributes of a kernel, then calls `work` with the kernel's KernelInfo. For a kernel
// compiled as C++ that has not been launched yet, the KernelInfo has only default values.
template <class Work>
cudaError_t with_kernel(const void* kernel, const Work& work) {
  KernelInfo* info = find_kernel(kernel);
  if (info == nullptr) {
    const RaceIgnored bookkeeping;
    if (!is_code(kernel)) return cudaErrorInvalidDeviceFunction;
    info = &state().kernels[kernel];
  }
  const cudaError_t unknown = read_kernel(info);
  return unknown != cudaSuccess ? unknown : work(info);
}

}  // namespace

// Only threads and shared memory limit the number of blocks, since the simulator does not count
// registers.
size_t blocks_per_sm(const KernelInfo& kernel, size_t threads, size_t shared_memory) {
  if (threads > static_cast<size_t>(kernel.attributes.max_threads)) return 0;
  shared_memory += kernel.attributes.shared_bytes;
  const Specification& limits = specification_of(current_device().compute_capability);
  const size_t by_threads = std::min(static_cast<size_t>(limits.max_threads_per_sm) / threads,
                                     static_cast<size_t>(limits.max_blocks_per_sm));
  const auto opt_in = static_cast<size_t>(current_device().shared_memory_per_block_opt_in);
  const auto reserved = static_cast<size_t>(limits.reserved_shared_memory);
  const size_t share = std::max<size_t>(shared_memory + reserved, 1);
  return std::min(by_threads, (opt_in + reserved) / share);
}

size_t KernelInfo::largest_cluster() const {
  if (current_device().compute_capability < 90) return 1;
  return allows_large_clusters ? 16 : 8;
}

namespace core {

bool kernel_exists(const void* kernel) { return find_kernel(kernel) != nullptr; }

cudaError_t set_kernel_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      if (value != 0 && value != 1) return cudaErrorInvalidValue;
      info->allows_large_clusters = value == 1;
      return cudaSuccess;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    const int most = current_device().shared_memory_per_block_opt_in;
    if (value < 0 || value > most - static_cast<int>(info->attributes.shared_bytes)) {
      return cudaErrorInvalidValue;
    }
    info->opted_in_shared_memory = value;
    return cudaSuccess;
  });
}

cudaError_t read_kernel_attributes(cudaFuncAttributes* attributes, const void* kernel) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    const int device = current_device().compute_capability;
    *attributes = {};  // numRegs is 0, since registers are not counted
    attributes->sharedSizeBytes = info->attributes.shared_bytes;
    attributes->constSizeBytes = info->attributes.constant_bytes;
    attributes->localSizeBytes = info->attributes.local_bytes;
    attributes->maxThreadsPerBlock = info->attributes.max_threads;
    attributes->maxDynamicSharedSizeBytes = info->max_dynamic_shared_memory();
    attributes->ptxVersion =
        info->attributes.capability != 0 ? info->attributes.capability : device;
    attributes->binaryVersion = device;
    attributes->nonPortableClusterSizeAllowed = info->allows_large_clusters ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t read_kernel_name(const char** name, const void* kernel) {
  const KernelInfo* info = find_kernel(kernel);
  const RaceIgnored bookkeeping;
  // No KernelInfo with a name exists for a kernel compiled as C++ before its first launch; the name
  // is then read from the symbol table.
  static auto& names = *new std::set<std::string>;
  const bool has_name = info != nullptr && !info->mangled.empty();
  *name = names.insert(has_name ? info->mangled : function_at(kernel)).first->c_str();
  return **name != '\0' ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t read_kernel_parameter(const void* kernel, size_t index, size_t* offset, size_t* size) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    const KernelAttributes& of_code = info->attributes;
    if (index >= of_code.offsets.size()) return cudaErrorInvalidValue;
    if (offset != nullptr) *offset = of_code.offsets[index];
    if (size != nullptr) *size = of_code.sizes[index];
    return cudaSuccess;
  });
}

cudaError_t read_blocks_per_sm(int* blocks, const void* kernel, int threads, size_t shared_memory) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    if (blocks == nullptr || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
    *blocks = static_cast<int>(blocks_per_sm(*info, static_cast<size_t>(threads), shared_memory));
    return cudaSuccess;
  });
}

cudaError_t read_available_shared_memory(size_t* shared_memory, const void* kernel, int blocks,
                                         int threads) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    if (shared_memory == nullptr) return cudaErrorInvalidValue;
    if (blocks < 1 || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
    const auto count = static_cast<size_t>(blocks);
    if (blocks_per_sm(*info, static_cast<size_t>(threads), 0) < count) return cudaErrorInvalidValue;
    const auto opt_in = static_cast<size_t>(current_device().shared_memory_per_block_opt_in);
    const Specification& limits = specification_of(current_device().compute_capability);
    const auto reserved = static_cast<size_t>(limits.reserved_shared_memory);
    *shared_memory =
        std::min((opt_in + reserved) / count - reserved, opt_in) - info->attributes.shared_bytes;
    return cudaSuccess;
  });
}

cudaError_t read_active_clusters(int* clusters, const void* kernel, const LaunchRequest& request) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    const size_t threads = volume(request.block), size = volume(request.cluster);
    if (clusters == nullptr || threads < 1 || threads > 1024 || size < 1) {
      return cudaErrorInvalidValue;
    }
    if (size > info->largest_cluster()) return cudaErrorInvalidClusterSize;
    const size_t resident = static_cast<size_t>(current_device().sm_count) *
                            blocks_per_sm(*info, threads, request.shared_memory);
    *clusters = static_cast<int>(resident / size);
    return cudaSuccess;
  });
}

cudaError_t read_largest_cluster(int* blocks, const void* kernel, const LaunchRequest& request) {
  return with_kernel(kernel, [&](KernelInfo* info) {
    const size_t threads = volume(request.block);
    if (blocks == nullptr || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
    const bool fits = blocks_per_sm(*info, threads, request.shared_memory) != 0;
    *blocks = fits ? static_cast<int>(info->largest_cluster()) : 0;
    return cudaSuccess;
  });
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", ApiScope::kDevice,
              [&] { return core::set_kernel_attribute(kernel, attribute, value); });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call("cudaFuncGetAttributes", ApiScope::kDevice,
              [&] { return core::read_kernel_attributes(attributes, kernel); });
}
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return core::read_kernel_name(name, kernel);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, size_t shared_memory) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", ApiScope::kDevice,
              [&] { return core::read_blocks_per_sm(blocks, kernel, threads, shared_memory); });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int threads,
                                                                   size_t shared_memory, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_memory);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", ApiScope::kDevice, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    return core::read_active_clusters(clusters, kernel, core::request_of(*config));
  });
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel,
                                                 const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxPotentialClusterSize", ApiScope::kDevice, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    return core::read_largest_cluster(blocks, kernel, core::request_of(*config));
  });
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared_memory, const void* kernel,
                                                      int blocks, int threads) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", ApiScope::kDevice, [&] {
    return core::read_available_shared_memory(shared_memory, kernel, blocks, threads);
  });
}

}  // extern "C"
