// SPDX-License-Identifier: Apache-2.0
// Launches: checked like on a device, recorded, and run if run_kernels() is on.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/core/launches.h"
#include "runtime/ranges.h"
#include "runtime/state.h"
#include "runtime/visibility.h"

namespace kernkit::simulator {
namespace {

using Arguments = std::vector<std::vector<unsigned char>>;

using core::volume;
using Request = core::LaunchRequest;

bool has_image(const KernelInfo& kernel) {
  const auto module = state().modules.find(kernel.module);
  if (module == state().modules.end()) return true;
  const int device = current_device().compute_capability;
  const ModuleInfo& code = module->second;
  return runs_machine_code(code.machine_code, device) ||
         choose_ptx(code.ptx, code.machine_code, device) != 0;
}

bool within(dim3 size, unsigned x, unsigned y, unsigned z) {
  return size.x >= 1 && size.y >= 1 && size.z >= 1 && size.x <= x && size.y <= y && size.z <= z;
}

cudaError_t check(const Request& request, const KernelInfo& kernel) {
  const CudaDevice& device = current_device();
  const auto limit = [&](int i) { return static_cast<unsigned>(device.max_grid[i]); };
  if (!within(request.grid, limit(0), limit(1), limit(2)) ||
      !within(request.block, 1024, 1024, 64) || volume(request.block) > 1024) {
    return cudaErrorInvalidConfiguration;
  }
  if (request.shared_memory > static_cast<size_t>(kernel.max_dynamic_shared_memory())) {
    return cudaErrorInvalidValue;
  }
  if (volume(request.block) > static_cast<size_t>(kernel.attributes.max_threads)) {
    return cudaErrorLaunchOutOfResources;
  }
  const dim3 cluster = request.cluster;
  if (volume(cluster) != 1) {
    if (device.compute_capability < 90) {
      return reject_argument(
          "clusterDim: a cluster of blocks needs compute capability 9.0; the "
          "device has " +
              capability_text(device.compute_capability),
          cudaErrorNotSupported);
    }
    if (volume(cluster) > kernel.largest_cluster()) {
      return reject_argument(
          "clusterDim: a cluster of " + std::to_string(volume(cluster)) +
              " blocks; expected at most 8, or at most 16 after cudaFuncSetAttribute() with "
              "cudaFuncAttributeNonPortableClusterSizeAllowed",
          cudaErrorInvalidClusterSize);
    }
    if (request.grid.x % cluster.x != 0 || request.grid.y % cluster.y != 0 ||
        request.grid.z % cluster.z != 0) {
      return cudaErrorInvalidConfiguration;
    }
  }
  if (request.cooperative && volume(request.grid) > static_cast<size_t>(device.sm_count) *
                                                        blocks_per_sm(kernel, volume(request.block),
                                                                      request.shared_memory)) {
    return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

// Returns whether an argument of a kernel, or a member of a structure among the arguments, points
// to memory of another device, and reports a fault in that case. Peer access is not supported.
bool reaches_foreign_memory(const std::string& name, const Arguments& arguments, int device) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (size_t at = 0; at + sizeof(void*) <= arguments[i].size(); at += sizeof(void*)) {
      const void* pointer = nullptr;
      std::memcpy(&pointer, &arguments[i][at], sizeof(pointer));
      const Allocation* memory = allocation_of(pointer);
      if (memory == nullptr || memory->type != cudaMemoryTypeDevice || memory->device == device) {
        continue;
      }
      fault(name + ": argument " + std::to_string(i) +
                ", counted from 0, is memory of cuda:" + std::to_string(memory->device) +
                ", and the kernel runs on cuda:" + std::to_string(device),
            device, cudaErrorIllegalAddress);
      return true;
    }
  }
  return false;
}

// Called when the stream reaches a launch: runs the launch on its device.
void run(const CudaLaunch& launch, const GridRun& grid) {
  const std::string name = launch.kernel.empty() ? "kernel" : launch.kernel;
  if (reaches_foreign_memory(name, launch.arguments, launch.device)) return;
  cudaError_t error = cudaSuccess;
  const std::string sentence = grid(&error);
  if (!sentence.empty()) fault(sentence, launch.device, error);
}

// Returns copies of the arguments of a kernel. `arguments` is null if the kernel has no parameters.
Arguments copy_arguments(const KernelInfo& kernel, void** arguments) {
  Arguments copies;
  if (arguments == nullptr) return copies;
  for (size_t i = 0; i < kernel.sizes.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(arguments[i]);
    copies.emplace_back(bytes, bytes + kernel.sizes[i]);
  }
  return copies;
}

// Launches a kernel. `arguments_of(info)` is called after the kernel's attributes were read, and
// returns pointers to the arguments, or null if the arguments do not match the kernel's parameters.
template <class ArgumentsOf>
cudaError_t launch(const Request& request, const void* kernel, const ArgumentsOf& arguments_of) {
  KernelInfo* info = find_kernel(kernel);
  if (info == nullptr) return reject_launch_by_address(kernel);
  if (!is_default_stream(request.stream) && exists(request.stream) &&
      request.stream->device != thread_state().device) {
    return cudaErrorInvalidResourceHandle;
  }
  KernelExecutor* const executor = executor_of(*info);
  if (executor == nullptr && !has_image(*info)) return cudaErrorNoKernelImageForDevice;
  const cudaError_t unreadable = read_kernel(info);
  if (unreadable != cudaSuccess) return unreadable;
  const cudaError_t rejected = check(request, *info);
  if (rejected != cudaSuccess) return rejected;
  void** const arguments = arguments_of(*info);
  if (arguments == nullptr && !info->sizes.empty()) return cudaErrorInvalidValue;
  const bool is_captured = exists(request.stream) && captured(request.stream) != nullptr;
  const auto record = std::make_shared<const CudaLaunch>(
      CudaLaunch{info->name, request.grid, request.block, request.shared_memory, request.stream,
                 thread_state().device, request.cluster, request.cooperative,
                 request.overlaps_previous, is_captured, copy_arguments(*info, arguments)});
  GridRun grid = executor != nullptr ? executor->prepare(*info, record) : nullptr;
  const Work work = [record, grid = std::move(grid)] {
    if (state().run_kernels && grid) run(*record, grid);
  };
  const cudaError_t error = enqueue(request.stream, work, NodeKind::kKernel);
  if (error == cudaSuccess && !is_captured) note_kernel(record->device, request.stream);
  if (error == cudaSuccess && state().keeps_records) state().launches.push_back(*record);
  return error;
}

}  // namespace

namespace core {

cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void** arguments) {
  return launch(request, kernel, [&](const KernelInfo&) { return arguments; });
}

LaunchRequest request_of(const cudaLaunchConfig_t& config) {
  LaunchRequest request;
  request.grid = config.gridDim;
  request.block = config.blockDim;
  request.shared_memory = config.dynamicSmemBytes;
  request.stream = config.stream;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    apply_attribute(config.attrs[i].id, config.attrs[i].val, &request);
  }
  return request;
}

cudaError_t launch_kernel(const LaunchRequest& request, const void* kernel, void* buffer,
                          size_t size) {
  std::vector<void*> pointers;
  return launch(request, kernel, [&](const KernelInfo& info) -> void** {
    const std::vector<size_t>& offsets = info.attributes.offsets;
    if (offsets.size() != info.sizes.size()) return nullptr;
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] + info.sizes[i] > size) return nullptr;
      pointers.push_back(static_cast<char*>(buffer) + offsets[i]);
    }
    return pointers.data();
  });
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_memory, cudaStream_t stream) {
  return call("cudaLaunchKernel", ApiScope::kDevice, [&] {
    return core::launch_kernel(Request{grid, block, shared_memory, stream}, kernel, arguments);
  });
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_memory, cudaStream_t stream) {
  return call("cudaLaunchCooperativeKernel", ApiScope::kDevice, [&] {
    Request request{grid, block, shared_memory, stream};
    request.cooperative = true;
    return core::launch_kernel(request, kernel, arguments);
  });
}
// nvcc compiles <<<>>> to this call. A kernel's handle is its address, see __cudaGetKernel.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_memory, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments,
                          shared_memory, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  return call("cudaLaunchKernelExC", ApiScope::kDevice,
              [&] { return core::launch_kernel(core::request_of(*config), kernel, arguments); });
}

}  // extern "C"
