// SPDX-License-Identifier: Apache-2.0
// Memory, memory pools and pointers of the driver's API.
#include "runtime/core/memory.h"

#include "libcuda/driver_call.h"
#include "libcudart/host_memory.h"
#include "libcudart/managed_memory.h"
#include "libcudart/pools.h"

namespace kernkit::simulator::driver {
namespace {

// Writes `value` to the object of type T at `to`.
template <class T>
void put(void* to, T value) {
  *static_cast<T*>(to) = value;
}

// Writes an attribute of memory that CUDA allocated to *value.
cudaError_t write_attribute(void* value, CUpointer_attribute attribute, const void* address,
                            const cudaPointerAttributes& all) {
  const bool is_host = all.type == cudaMemoryTypeHost;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: {
      CUctx_st* context = nullptr;
      void* begin = nullptr;
      core::read_context_of_memory(address, &context);
      core::find_range(&begin, nullptr, address);
      if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT) put(value, context);
      if (attribute == CU_POINTER_ATTRIBUTE_BUFFER_ID) {
        put(value, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(begin)));
      }
      return cudaSuccess;
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      put<unsigned>(value, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      put(value, const_cast<void*>(address));  // kernels access host memory at its host address
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (all.hostPointer == nullptr) return cudaErrorInvalidValue;
      put(value, all.hostPointer);
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: put(value, 0); return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      put<unsigned>(value, all.type == cudaMemoryTypeManaged);
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put(value, all.device); return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: put(value, 0); return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: put(value, 0ULL); return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: {
      void* begin = nullptr;
      const cudaError_t error = core::find_range(&begin, nullptr, address);
      put(value, begin);
      return error;
    }
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: {
      size_t size = 0;
      const cudaError_t error = core::find_range(nullptr, &size, address);
      put(value, size);
      return error;
    }
    case CU_POINTER_ATTRIBUTE_MAPPED: put(value, 1); return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      put<unsigned>(value, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
      return cudaSuccess;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
      MemoryPool* pool = nullptr;
      core::find_pool_of_memory(&pool, address);
      put(value, pool);
      return cudaSuccess;
    }
    default: return cudaErrorNotSupported;
  }
}

cudaError_t read_attribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  if (value == nullptr) return cudaErrorInvalidValue;
  cudaPointerAttributes all{};
  const cudaError_t error = core::read_pointer(&all, pointer_of(address));
  if (error != cudaSuccess) return error;
  if (all.type == cudaMemoryTypeUnregistered) return cudaErrorInvalidValue;
  return write_attribute(value, attribute, pointer_of(address), all);
}

// Reads several attributes. For memory that CUDA did not allocate, the device ordinal is -2 and all
// other attributes are 0.
cudaError_t read_attributes(unsigned count, const CUpointer_attribute* attributes, void** values,
                            CUdeviceptr address) {
  if (count == 0 || attributes == nullptr || values == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const cudaError_t error = read_attribute(values[i], attributes[i], address);
    if (error == cudaErrorNotSupported) return error;
    if (error == cudaSuccess) continue;
    const bool is_word = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES ||
                         attributes[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    const bool is_device = attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    is_word ? put(values[i], 0ULL) : put(values[i], is_device ? -2 : 0);
  }
  return cudaSuccess;
}

MemLocation location_of(CUmemLocation location) {
  return {static_cast<int>(location.type), location.id};
}

// Returns the location of a device's memory; of the host's memory for CU_DEVICE_CPU.
MemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {kLocationHost, 0};
  return {kLocationDevice, device};
}

static_assert(sizeof(CUmemPoolProps) == sizeof(MemPoolProps), "the same layout");
static_assert(sizeof(CUmemAccessDesc) == sizeof(MemAccessDesc), "the same layout");

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator;          // NOLINT(build/namespaces): these are its functions
using namespace kernkit::simulator::driver;  // NOLINT(build/namespaces)

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t size) {
  return call("cuMemAlloc", ApiScope::kUnsafe, [&] {
    if (size == 0) return cudaErrorInvalidValue;
    return core::allocate(pointer_to(address), size, cudaMemoryTypeDevice);
  });
}
CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element_size) {
  return call("cuMemAllocPitch", ApiScope::kUnsafe, [&] {
    const bool has_size = element_size == 4 || element_size == 8 || element_size == 16;
    if (!has_size || width == 0 || height == 0) return cudaErrorInvalidValue;
    return core::allocate_rows(pointer_to(address), pitch, width, height);
  });
}
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t size, unsigned flags) {
  return call("cuMemAllocManaged", ApiScope::kUnsafe,
              [&] { return core::allocate_managed(pointer_to(address), size, flags); });
}
CUresult cuMemAllocHost_v2(void** pointer, size_t size) {
  return call("cuMemAllocHost", ApiScope::kUnsafe, [&] {
    if (size == 0) return cudaErrorInvalidValue;
    return core::allocate(pointer, size, cudaMemoryTypeHost);
  });
}
CUresult cuMemHostAlloc(void** pointer, size_t size, unsigned) {
  return call("cuMemHostAlloc", ApiScope::kUnsafe, [&] {
    if (size == 0) return cudaErrorInvalidValue;
    return core::allocate(pointer, size, cudaMemoryTypeHost);
  });
}
CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return call("cuMemHostGetFlags", ApiScope::kHost, [&] {
    void* on_device = nullptr;
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = CU_MEMHOSTALLOC_DEVICEMAP;
    return core::find_device_pointer(&on_device, pointer);
  });
}
CUresult cuMemHostRegister_v2(void* pointer, size_t size, unsigned flags) {
  return call("cuMemHostRegister", ApiScope::kUnsafe,
              [&] { return core::register_host_memory(pointer, size, flags); });
}
CUresult cuMemHostRegister(void* pointer, size_t size, unsigned flags) {
  return cuMemHostRegister_v2(pointer, size, flags);
}
CUresult cuMemHostUnregister(void* pointer) {
  return call("cuMemHostUnregister", ApiScope::kUnsafe,
              [&] { return core::unregister_host_memory(pointer); });
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  return call("cuMemHostGetDevicePointer", ApiScope::kDevice, [&] {
    if (flags != 0) return cudaErrorInvalidValue;
    return core::find_device_pointer(pointer_to(address), pointer);
  });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return call("cuMemFree", ApiScope::kUnsafe,
              [&] { return core::free_memory(pointer_of(address)); });
}
CUresult cuMemFreeHost(void* pointer) {
  return call("cuMemFreeHost", ApiScope::kUnsafe, [&] { return core::free_host_memory(pointer); });
}
CUresult cuMemAllocAsync(CUdeviceptr* address, size_t size, CUstream stream) {
  return call("cuMemAllocAsync", ApiScope::kDevice,
              [&] { return core::allocate_async(pointer_to(address), size, stream); });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t size, CUmemoryPool pool,
                                 CUstream stream) {
  return call("cuMemAllocFromPoolAsync", ApiScope::kDevice,
              [&] { return core::allocate_from_pool(pointer_to(address), size, pool, stream); });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return call("cuMemFreeAsync", ApiScope::kDevice,
              [&] { return core::free_async(pointer_of(address), stream); });
}
CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call("cuMemGetInfo", ApiScope::kDevice,
              [&] { return core::read_memory_sizes(free, total); });
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, size_t* size, CUdeviceptr address) {
  return call("cuMemGetAddressRange", ApiScope::kHost,
              [&] { return core::find_range(pointer_to(begin), size, pointer_of(address)); });
}
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return call_without_context("cuPointerGetAttribute",
                              [&] { return read_attribute(value, attribute, address); });
}
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                CUdeviceptr address) {
  return call_without_context("cuPointerGetAttributes",
                              [&] { return read_attributes(count, attributes, values, address); });
}
// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS has no effect, since synchronous copies always wait until they
// have ended.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr) {
  return call("cuPointerSetAttribute", ApiScope::kHost, [&] {
    const bool is_valid = value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    return is_valid ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice,
                        CUmemLocation location) {
  return call("cuMemAdvise", ApiScope::kDevice, [&] {
    return core::advise(pointer_of(address), size, static_cast<int>(advice), location_of(location));
  });
}
CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device) {
  return call("cuMemAdvise", ApiScope::kDevice, [&] {
    return core::advise(pointer_of(address), size, static_cast<int>(advice), location_of(device));
  });
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  return call("cuMemPrefetchAsync", ApiScope::kDevice, [&] {
    return core::prefetch(pointer_of(address), size, location_of(location), flags, stream);
  });
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream stream) {
  return call("cuMemPrefetchAsync", ApiScope::kDevice, [&] {
    return core::prefetch(pointer_of(address), size, location_of(device), 0, stream);
  });
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t size, unsigned flags) {
  return call("cuStreamAttachMemAsync", ApiScope::kDevice,
              [&] { return core::attach_to_stream(stream, pointer_of(address), size, flags); });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call_without_context("cuMemPoolCreate", [&] {
    return core::create_pool(pool, reinterpret_cast<const MemPoolProps*>(properties));
  });
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                CUmemAllocationType type) {
  return call_without_context("cuMemGetDefaultMemPool", [&] {
    return core::find_default_pool(pool, reinterpret_cast<const MemLocation*>(location), type);
  });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call_without_context("cuMemGetMemPool", [&] {
    return core::find_current_pool(pool, reinterpret_cast<const MemLocation*>(location), type);
  });
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return call_without_context("cuMemSetMemPool", [&] {
    return core::set_current_pool(reinterpret_cast<const MemLocation*>(location), type, pool);
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return call_without_context("cuMemPoolDestroy", [&] { return core::destroy_pool(pool); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call_without_context("cuMemPoolSetAttribute", [&] {
    return core::set_pool_attribute(pool, static_cast<int>(attribute), value);
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call_without_context("cuMemPoolGetAttribute", [&] {
    return core::read_pool_attribute(pool, static_cast<int>(attribute), value);
  });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t min_bytes) {
  return call_without_context("cuMemPoolTrimTo", [&] { return core::trim_pool(pool, min_bytes); });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* all, size_t count) {
  return call_without_context("cuMemPoolSetAccess", [&] {
    return core::set_pool_access(pool, reinterpret_cast<const MemAccessDesc*>(all), count);
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return call_without_context("cuMemPoolGetAccess", [&] {
    int access = 0;
    if (flags == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error =
        core::read_pool_access(&access, pool, reinterpret_cast<const MemLocation*>(location));
    *flags = static_cast<CUmemAccess_flags>(access);
    return error;
  });
}

}  // extern "C"
