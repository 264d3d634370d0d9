// SPDX-License-Identifier: Apache-2.0
// Attributes, occupancy and launches of kernels by the driver's API.
#include <algorithm>

#include "libcuda/driver_call.h"
#include "runtime/core/devices.h"
#include "runtime/core/kernels.h"
#include "runtime/core/launches.h"

namespace kernkit::simulator::driver {
namespace {

cudaError_t read_attribute(int* value, CUfunction_attribute attribute, const void* kernel) {
  if (value == nullptr || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) {
    return cudaErrorInvalidValue;
  }
  cudaFuncAttributes all{};
  const cudaError_t error = core::read_kernel_attributes(&all, kernel);
  if (error != cudaSuccess) return error;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(all.sharedSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = static_cast<int>(all.constSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(all.localSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = all.nonPortableClusterSizeAllowed;
      break;
    default: *value = 0;  // attributes without an effect in the simulator
  }
  return cudaSuccess;
}

cudaError_t set_attribute(const void* kernel, CUfunction_attribute attribute, int value) {
  const bool is_writable = attribute >= CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
                           attribute < CU_FUNC_ATTRIBUTE_MAX;
  if (!is_writable) return cudaErrorInvalidValue;
  return core::set_kernel_attribute(kernel, static_cast<cudaFuncAttribute>(attribute), value);
}

// Finds the block size that maximises the number of resident threads (the largest such size), and
// the number of such blocks that fills the device.
cudaError_t find_block_size(int* blocks, int* threads, const void* kernel,
                            CUoccupancyB2DSize shared_memory_of, size_t shared_memory, int limit) {
  if (blocks == nullptr || threads == nullptr) return cudaErrorInvalidValue;
  CUctx_st* context = nullptr;
  cudaFuncAttributes all{};
  int sms = 0, most = 0;
  core::read_context(&context);
  cudaError_t error =
      core::read_device_attribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context->device);
  if (error == cudaSuccess) error = core::read_kernel_attributes(&all, kernel);
  if (error != cudaSuccess) return error;
  const int largest = limit > 0 ? std::min(limit, all.maxThreadsPerBlock) : all.maxThreadsPerBlock;
  *blocks = *threads = 0;
  for (int size = 32; size <= largest; size += 32) {
    const size_t bytes = shared_memory_of != nullptr ? shared_memory_of(size) : shared_memory;
    int resident = 0;
    error = core::read_blocks_per_sm(&resident, kernel, size, bytes);
    if (error != cudaSuccess) return error;
    if (resident == 0 || resident * size < most) continue;
    most = resident * size;
    *threads = size;
    *blocks = resident * sms;
  }
  return cudaSuccess;
}

// Launches a kernel with an array of pointers to its arguments, or with the buffer of arguments
// that `extra` describes.
cudaError_t launch(const core::LaunchRequest& request, CUfunction function, void** arguments,
                   void** extra) {
  if (!core::kernel_exists(kernel_of(function))) return cudaErrorInvalidResourceHandle;
  if (extra == nullptr) return core::launch_kernel(request, kernel_of(function), arguments);
  if (arguments != nullptr) return cudaErrorInvalidValue;
  void* buffer = nullptr;
  const size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = static_cast<const size_t*>(extra[1]);
    } else {
      return cudaErrorInvalidValue;
    }
  }
  if (buffer == nullptr || size == nullptr) return cudaErrorInvalidValue;
  return core::launch_kernel(request, kernel_of(function), buffer, *size);
}

static_assert(static_cast<int>(CU_LAUNCH_ATTRIBUTE_COOPERATIVE) == cudaLaunchAttributeCooperative &&
              static_cast<int>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) ==
                  cudaLaunchAttributeClusterDimension &&
              static_cast<int>(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) ==
                  cudaLaunchAttributeProgrammaticStreamSerialization);

core::LaunchRequest request_of(const CUlaunchConfig& config) {
  core::LaunchRequest request;
  request.grid = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  request.block = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  request.shared_memory = config.sharedMemBytes;
  request.stream = config.hStream;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    core::apply_attribute(config.attrs[i].id, config.attrs[i].value, &request);
  }
  return request;
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return call("cuFuncGetAttribute", ApiScope::kDevice,
              [&] { return read_attribute(value, attribute, kernel_of(function)); });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return call("cuFuncSetAttribute", ApiScope::kDevice,
              [&] { return set_attribute(kernel_of(function), attribute, value); });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice) {
  return call("cuKernelGetAttribute", ApiScope::kDevice,
              [&] { return read_attribute(value, attribute, kernel_of(kernel)); });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice) {
  return call("cuKernelSetAttribute", ApiScope::kDevice,
              [&] { return set_attribute(kernel_of(kernel), attribute, value); });
}
// The cache configuration is a performance hint, which has no effect.
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  return call("cuFuncSetCacheConfig", ApiScope::kHost, [] { return cudaSuccess; });
}
CUresult cuKernelSetCacheConfig(CUkernel, CUfunc_cache, CUdevice) {
  return call("cuKernelSetCacheConfig", ApiScope::kHost, [] { return cudaSuccess; });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return call("cuFuncGetName", ApiScope::kHost, [&] {
    if (name == nullptr) return cudaErrorInvalidValue;
    return core::read_kernel_name(name, kernel_of(function));
  });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return call_without_context("cuKernelGetName", [&] {
    if (name == nullptr) return cudaErrorInvalidValue;
    return core::read_kernel_name(name, kernel_of(kernel));
  });
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return call("cuFuncGetParamInfo", ApiScope::kDevice, [&] {
    if (offset == nullptr) return cudaErrorInvalidValue;
    return core::read_kernel_parameter(kernel_of(function), index, offset, size);
  });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return call("cuKernelGetParamInfo", ApiScope::kDevice, [&] {
    if (offset == nullptr) return cudaErrorInvalidValue;
    return core::read_kernel_parameter(kernel_of(kernel), index, offset, size);
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return call("cuFuncLoad", ApiScope::kDevice, [&] {
    cudaFuncAttributes all{};
    return core::read_kernel_attributes(&all, kernel_of(function));
  });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return call("cuFuncIsLoaded", ApiScope::kHost, [&] {
    if (state == nullptr) return cudaErrorInvalidValue;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return core::kernel_exists(kernel_of(function)) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t shared_memory) {
  return call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ApiScope::kDevice, [&] {
    return core::read_blocks_per_sm(blocks, kernel_of(function), threads, shared_memory);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, size_t shared_memory,
                                                              unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_memory);
}
CUresult cuOccupancyMaxPotentialBlockSize(int* blocks, int* threads, CUfunction function,
                                          CUoccupancyB2DSize shared_memory_of, size_t shared_memory,
                                          int limit) {
  return call("cuOccupancyMaxPotentialBlockSize", ApiScope::kDevice, [&] {
    return find_block_size(blocks, threads, kernel_of(function), shared_memory_of, shared_memory,
                           limit);
  });
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* threads, CUfunction function,
                                                   CUoccupancyB2DSize shared_memory_of,
                                                   size_t shared_memory, int limit, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(blocks, threads, function, shared_memory_of,
                                          shared_memory, limit);
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  return call("cuOccupancyMaxActiveClusters", ApiScope::kDevice, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    return core::read_active_clusters(clusters, kernel_of(function), request_of(*config));
  });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config) {
  return call("cuOccupancyMaxPotentialClusterSize", ApiScope::kDevice, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    return core::read_largest_cluster(blocks, kernel_of(function), request_of(*config));
  });
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* shared_memory, CUfunction function,
                                                 int blocks, int threads) {
  return call("cuOccupancyAvailableDynamicSMemPerBlock", ApiScope::kDevice, [&] {
    return core::read_available_shared_memory(shared_memory, kernel_of(function), blocks, threads);
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z,
                        unsigned shared_memory, CUstream stream, void** arguments, void** extra) {
  return call("cuLaunchKernel", ApiScope::kDevice, [&] {
    return launch(request_of({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_memory,
                              stream, nullptr, 0}),
                  function, arguments, extra);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_memory, CUstream stream,
                                   void** arguments) {
  return call("cuLaunchCooperativeKernel", ApiScope::kDevice, [&] {
    core::LaunchRequest request = request_of(
        {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_memory, stream, nullptr, 0});
    request.cooperative = true;
    return launch(request, function, arguments, nullptr);
  });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  return call("cuLaunchKernelEx", ApiScope::kDevice, [&] {
    if (config == nullptr || (config->attrs == nullptr && config->numAttrs != 0)) {
      return cudaErrorInvalidValue;
    }
    return launch(request_of(*config), function, arguments, extra);
  });
}

}  // extern "C"
