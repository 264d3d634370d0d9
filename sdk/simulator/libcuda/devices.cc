// SPDX-License-Identifier: Apache-2.0
// Devices and contexts of the driver's API.
#include "runtime/core/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "libcuda/driver_call.h"
#include "libcudart/device.h"
#include "libcudart/pools.h"
#include "runtime/core/memory.h"

namespace kernkit::simulator::driver {
namespace {

// Attributes of the driver's API that the runtime's API lacks. The value of each attribute is 0,
// since the simulator does not support the feature.
constexpr CUdevice_attribute kAbsent[] = {
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1,
    CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
    CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS,
    CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED};

// Runs `read(properties)`, the body of the driver API function `function`, with a device's
// properties.
template <class Read>
CUresult read_properties(const char* function, CUdevice device, const Read& read) {
  return call_without_context(function, [&] {
    DeviceProperties properties{};
    const cudaError_t error = core::read_device_properties(&properties, device);
    return error != cudaSuccess ? error : read(properties);
  });
}

// Runs `read(context)`, the body of the driver API function `function`. A null `context` stands for
// the current context.
template <class Read>
CUresult read_context(const char* function, CUcontext context, const Read& read) {
  return call_without_context(function, [&] {
    const CUctx_st* resolved = context;
    const cudaError_t error = core::find_context(&resolved);
    return error != cudaSuccess ? error : read(*resolved);
  });
}

template <class T>
cudaError_t store(T* to, T value) {
  if (to == nullptr) return cudaErrorInvalidValue;
  *to = value;
  return cudaSuccess;
}

// Makes a context current, runs `work`, and makes the previous context current again.
template <class Work>
cudaError_t inside(CUcontext context, const Work& work) {
  const cudaError_t error = core::push_context(context);
  if (error != cudaSuccess) return error;
  const cudaError_t result = work();
  core::pop_context(nullptr);
  return result;
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return call_without_context("cuDeviceGetCount", [&] { return core::count_devices(count); });
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call_without_context("cuDeviceGet", [&] {
    int count = 0;
    const cudaError_t error = core::count_devices(&count);
    if (error != cudaSuccess) return error;
    return ordinal >= 0 && ordinal < count ? store(device, ordinal) : cudaErrorInvalidDevice;
  });
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return read_properties("cuDeviceGetName", device, [&](const DeviceProperties& properties) {
    if (name == nullptr || length < 1) return cudaErrorInvalidValue;
    std::snprintf(name, static_cast<size_t>(length), "%s", properties.name);
    return cudaSuccess;
  });
}
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return read_properties("cuDeviceTotalMem", device, [&](const DeviceProperties& properties) {
    return store(bytes, properties.totalGlobalMem);
  });
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return read_properties("cuDeviceGetUuid", device, [&](const DeviceProperties& properties) {
    if (uuid == nullptr) return cudaErrorInvalidValue;
    std::memcpy(uuid->bytes, properties.uuid, sizeof(uuid->bytes));
    return cudaSuccess;
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return call_without_context("cuDeviceGetAttribute", [&] {
    const bool is_absent =
        std::find(std::begin(kAbsent), std::end(kAbsent), attribute) != std::end(kAbsent);
    if (!is_absent) return core::read_device_attribute(value, static_cast<int>(attribute), device);
    const cudaError_t error =
        core::read_device_attribute(value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
    return error != cudaSuccess ? error : store(value, 0);
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return read_properties("cuDeviceComputeCapability", device, [&](const DeviceProperties& all) {
    const cudaError_t error = store(major, all.major);
    return error != cudaSuccess ? error : store(minor, all.minor);
  });
}
CUresult cuDeviceGetPCIBusId(char* address, int length, CUdevice device) {
  return call_without_context("cuDeviceGetPCIBusId",
                              [&] { return core::read_pci_address(address, length, device); });
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* address) {
  return call_without_context("cuDeviceGetByPCIBusId",
                              [&] { return core::find_device_by_pci_address(device, address); });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return read_properties("cuDeviceCanAccessPeer", device, [&](const DeviceProperties&) {
    DeviceProperties of_peer{};
    const cudaError_t error = core::read_device_properties(&of_peer, peer);
    return error != cudaSuccess ? error : store(can, 0);
  });
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return call_without_context("cuDeviceGetDefaultMemPool",
                              [&] { return core::find_default_pool(pool, device); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return call_without_context("cuDeviceGetMemPool",
                              [&] { return core::find_current_pool(pool, device); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return call_without_context("cuDeviceSetMemPool",
                              [&] { return core::set_current_pool(device, pool); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call_without_context("cuDevicePrimaryCtxRetain",
                              [&] { return core::retain_primary(context, device); });
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call_without_context("cuDevicePrimaryCtxRelease",
                              [&] { return core::release_primary(device); });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return call_without_context("cuDevicePrimaryCtxReset",
                              [&] { return core::reset_primary(device); });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return call_without_context("cuDevicePrimaryCtxSetFlags",
                              [&] { return core::set_primary_flags(device, flags); });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return call_without_context("cuDevicePrimaryCtxGetState",
                              [&] { return core::read_primary(device, flags, active); });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return call_without_context("cuCtxCreate",
                              [&] { return core::create_context(context, flags, device); });
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int count, unsigned flags,
                        CUdevice device) {
  return call_without_context("cuCtxCreate", [&] {
    if (count != 0) {
      return core::reject("paramsArray: a limit of multiprocessors is not supported; pass none",
                          cudaErrorNotSupported);
    }
    return core::create_context(context, flags, device);
  });
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  return call_without_context("cuCtxCreate", [&] {
    if (parameters != nullptr &&
        (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr)) {
      return core::reject(
          "ctxCreateParams: limits of multiprocessors and contexts for graphics are not "
          "supported; pass a null pointer",
          cudaErrorNotSupported);
    }
    return core::create_context(context, flags, device);
  });
}
CUresult cuCtxDestroy_v2(CUcontext context) {
  return call_without_context("cuCtxDestroy", [&] { return core::destroy_context(context); });
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return call_without_context("cuCtxPushCurrent", [&] { return core::push_context(context); });
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return call_without_context("cuCtxPopCurrent", [&] { return core::pop_context(context); });
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return call_without_context("cuCtxSetCurrent", [&] { return core::set_context(context); });
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return call_without_context("cuCtxGetCurrent", [&] { return core::read_context(context); });
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return read_context("cuCtxGetDevice", nullptr,
                      [&](const CUctx_st& context) { return store(device, context.device); });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return read_context("cuCtxGetDevice", context,
                      [&](const CUctx_st& resolved) { return store(device, resolved.device); });
}
CUresult cuCtxGetFlags(unsigned* flags) {
  return read_context("cuCtxGetFlags", nullptr,
                      [&](const CUctx_st& context) { return store(flags, context.flags); });
}
CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return read_context("cuCtxGetId", context,
                      [&](const CUctx_st& resolved) { return store(id, resolved.id); });
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return read_context("cuCtxGetApiVersion", context, [&](const CUctx_st&) {
    constexpr unsigned kVersion = 3020;  // version of the context API since CUDA 3.2
    return store(version, kVersion);
  });
}
CUresult cuCtxSynchronize() {
  return call("cuCtxSynchronize", ApiScope::kUnsafe, [] { return core::wait_for_device(); });
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (context == nullptr) return cuCtxSynchronize();
  return call_without_context(
      "cuCtxSynchronize", [&] { return inside(context, [] { return core::wait_for_device(); }); });
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return call("cuCtxGetLimit", ApiScope::kHost,
              [&] { return core::read_limit(value, static_cast<int>(limit)); });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return call("cuCtxSetLimit", ApiScope::kHost,
              [&] { return core::set_limit(static_cast<int>(limit), value); });
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call("cuCtxGetStreamPriorityRange", ApiScope::kHost,
              [&] { return core::read_priorities(least, greatest); });
}
// The cache configuration is a performance hint, which has no effect.
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return call("cuCtxSetCacheConfig", ApiScope::kHost, [] { return cudaSuccess; });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return call("cuCtxGetCacheConfig", ApiScope::kHost,
              [&] { return store(config, CU_FUNC_CACHE_PREFER_NONE); });
}

}  // extern "C"
