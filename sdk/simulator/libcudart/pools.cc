// SPDX-License-Identifier: Apache-2.0
// Memory pool functions. Source of the rules: cuda_runtime_api.h of CUDA 13.0 at the functions'
// names.
#include "libcudart/pools.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/memory.h"
#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

enum PoolAttribute : int {
  kReuseFollowEventDependencies = 1,
  kReuseAllowOpportunistic = 2,
  kReuseAllowInternalDependencies = 3,
  kReleaseThreshold = 4,
  kReservedMemCurrent = 5,
  kReservedMemHigh = 6,
  kUsedMemCurrent = 7,
  kUsedMemHigh = 8,
};
constexpr int kAllocationPinned = 1, kAllocationManaged = 2;
constexpr int kAccessNone = 0, kAccessRead = 1, kAccessReadWrite = 3;
constexpr unsigned kHardwareDecompression = 2;

std::shared_ptr<MemoryPool> find(const MemoryPool* pool) {
  for (const auto& existing : state().pools) {
    if (existing.get() == pool) return existing;
  }
  return nullptr;
}

DeviceState& state_of(int device) { return state().device_states[static_cast<size_t>(device)]; }

}  // namespace

cudaError_t core::create_pool(MemoryPool** pool, const MemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return cudaErrorInvalidValue;
  const auto& reserved = properties->reserved;
  if (std::any_of(std::begin(reserved), std::end(reserved), [](auto byte) { return byte != 0; })) {
    return cudaErrorInvalidValue;
  }
  switch (properties->location.type) {
    case kLocationDevice: break;
    case kLocationHost:
    case kLocationHostNuma:
      return reject_argument(
          "poolProps: a pool of the host is not supported; use a location of type "
          "cudaMemLocationTypeDevice",
          cudaErrorNotSupported);
    default: return cudaErrorInvalidValue;
  }
  if (!exists(properties->location.id)) return cudaErrorInvalidDevice;
  if (properties->handleTypes != 0 || properties->usage == kHardwareDecompression) {
    return reject_argument(
        "poolProps: memory that other processes share or that hardware decompresses is not "
        "supported; set handleTypes and usage to 0",
        cudaErrorNotSupported);
  }
  if (properties->allocType == kAllocationManaged) {
    return reject_argument(
        "poolProps: a pool of managed memory is not supported; use cudaMallocManaged()",
        cudaErrorNotSupported);
  }
  if (properties->allocType != kAllocationPinned || properties->usage != 0) {
    return cudaErrorInvalidValue;
  }
  auto created = std::make_shared<MemoryPool>();
  created->device = properties->location.id;
  created->max_size = properties->maxSize;
  state().pools.insert(created);
  *pool = created.get();
  return cudaSuccess;
}

cudaError_t core::destroy_pool(const MemoryPool* handle) {
  const std::shared_ptr<MemoryPool> pool = find(handle);
  if (pool == nullptr) return cudaErrorInvalidValue;
  DeviceState& of_device = state_of(pool->device);
  if (pool == of_device.default_pool) return cudaErrorInvalidValue;
  if (pool == of_device.pool) of_device.pool = of_device.default_pool;
  pool->destroyed = true;
  trim(pool.get(), 0);
  state().pools.erase(pool);
  return cudaSuccess;
}

namespace {

template <class T>
T value_at(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof(value));
  return value;
}

}  // namespace

cudaError_t core::set_pool_attribute(MemoryPool* pool, int attribute, const void* value) {
  if (find(pool) == nullptr || value == nullptr) return cudaErrorInvalidValue;
  const auto reset = [&](size_t* high, size_t current) {
    if (value_at<uint64_t>(value) != 0) return cudaErrorInvalidValue;
    *high = current;
    return cudaSuccess;
  };
  switch (attribute) {
    case kReuseFollowEventDependencies: pool->follows_events = value_at<int>(value); break;
    case kReuseAllowOpportunistic: pool->is_opportunistic = value_at<int>(value); break;
    case kReuseAllowInternalDependencies: pool->adds_dependencies = value_at<int>(value); break;
    case kReleaseThreshold: pool->release_threshold = value_at<uint64_t>(value); break;
    case kReservedMemHigh: return reset(&pool->reserved_high, pool->reserved);
    case kUsedMemHigh: return reset(&pool->used_high, pool->used);
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t core::read_pool_attribute(const MemoryPool* pool, int attribute, void* value) {
  if (find(pool) == nullptr || value == nullptr) return cudaErrorInvalidValue;
  const auto flag = [&](int attribute_value) {
    std::memcpy(value, &attribute_value, sizeof(attribute_value));
  };
  const auto bytes = [&](uint64_t attribute_value) {
    std::memcpy(value, &attribute_value, sizeof(attribute_value));
  };
  switch (attribute) {
    case kReuseFollowEventDependencies: flag(pool->follows_events); break;
    case kReuseAllowOpportunistic: flag(pool->is_opportunistic); break;
    case kReuseAllowInternalDependencies: flag(pool->adds_dependencies); break;
    case kReleaseThreshold: bytes(pool->release_threshold); break;
    case kReservedMemCurrent: bytes(pool->reserved); break;
    case kReservedMemHigh: bytes(pool->reserved_high); break;
    case kUsedMemCurrent: bytes(pool->used); break;
    case kUsedMemHigh: bytes(pool->used_high); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

namespace {

// Returns the pool attribute that corresponds to a cudaGraphMemAttributeType; 0 for an invalid
// value.
int pool_attribute_of(int attribute) {
  constexpr int kAll[] = {kUsedMemCurrent, kUsedMemHigh, kReservedMemCurrent, kReservedMemHigh};
  return attribute >= 0 && attribute < 4 ? kAll[attribute] : 0;
}

template <class Work>
cudaError_t with_graph_pool(const char* function, int device, const Work& work) {
  return call(function, ApiScope::kHost, [&] {
    return exists(device) ? work(state_of(device).graph_pool.get()) : cudaErrorInvalidDevice;
  });
}

}  // namespace

// Only the pool's own device has access to the pool, since devices have no peer access. For a
// descriptor that requests other access, returns an error.
cudaError_t core::set_pool_access(const MemoryPool* pool, const MemAccessDesc* all, size_t count) {
  if (find(pool) == nullptr || (all == nullptr && count != 0)) return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const auto& [location, flags] = all[i];
    if (location.type != kLocationDevice) return cudaErrorInvalidValue;
    if (!exists(location.id)) return cudaErrorInvalidDevice;
    if (flags != kAccessNone && flags != kAccessRead && flags != kAccessReadWrite) {
      return cudaErrorInvalidValue;
    }
    const bool is_own = location.id == pool->device;
    if (is_own && flags != kAccessReadWrite) return cudaErrorInvalidValue;
    if (!is_own && flags != kAccessNone) return cudaErrorInvalidDevice;
  }
  return cudaSuccess;
}

cudaError_t core::read_pool_access(int* flags, const MemoryPool* pool,
                                   const MemLocation* location) {
  if (flags == nullptr || find(pool) == nullptr || location == nullptr) {
    return cudaErrorInvalidValue;
  }
  if (location->type != kLocationDevice) return cudaErrorInvalidValue;
  if (!exists(location->id)) return cudaErrorInvalidDevice;
  *flags = location->id == pool->device ? kAccessReadWrite : kAccessNone;
  return cudaSuccess;
}

namespace {

cudaError_t pool_of(MemoryPool** pool, int device,
                    std::shared_ptr<MemoryPool> DeviceState::*which) {
  if (pool == nullptr) return cudaErrorInvalidValue;
  if (!exists(device)) return cudaErrorInvalidDevice;
  *pool = (state_of(device).*which).get();
  return cudaSuccess;
}

// Calls work(device) if a location and an allocation type denote pinned memory of a device;
// otherwise returns an error.
template <class Work>
cudaError_t with_device_of(const MemLocation* location, int allocation_type, const Work& work) {
  if (location == nullptr) return cudaErrorInvalidValue;
  const int type = location->type;
  const bool is_managed = allocation_type == kAllocationManaged;
  const bool is_known = type == kLocationDevice || type == kLocationHost ||
                        type == kLocationHostNuma || (is_managed && type == kLocationNone);
  if (!is_known || (!is_managed && allocation_type != kAllocationPinned)) {
    return cudaErrorInvalidValue;
  }
  if (is_managed || type != kLocationDevice) {
    return reject_argument(
        "location: only pinned memory of a device has memory pools; use a location of type "
        "cudaMemLocationTypeDevice and cudaMemAllocationTypePinned",
        cudaErrorNotSupported);
  }
  return work(location->id);
}

}  // namespace

namespace core {

cudaError_t find_default_pool(MemoryPool** pool, int device) {
  return pool_of(pool, device, &DeviceState::default_pool);
}
cudaError_t find_current_pool(MemoryPool** pool, int device) {
  return pool_of(pool, device, &DeviceState::pool);
}
cudaError_t set_current_pool(int device, MemoryPool* pool) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  const std::shared_ptr<MemoryPool> owner = find(pool);
  if (owner == nullptr || owner->device != device) return cudaErrorInvalidValue;
  state_of(device).pool = owner;
  return cudaSuccess;
}
cudaError_t find_default_pool(MemoryPool** pool, const MemLocation* location, int allocation_type) {
  return with_device_of(location, allocation_type,
                        [&](int device) { return find_default_pool(pool, device); });
}
cudaError_t find_current_pool(MemoryPool** pool, const MemLocation* location, int allocation_type) {
  return with_device_of(location, allocation_type,
                        [&](int device) { return find_current_pool(pool, device); });
}
cudaError_t set_current_pool(const MemLocation* location, int allocation_type, MemoryPool* pool) {
  return with_device_of(location, allocation_type,
                        [&](int device) { return set_current_pool(device, pool); });
}
cudaError_t find_pool_of_memory(MemoryPool** pool, const void* address) {
  const Allocation* allocation = allocation_of(address);
  *pool = allocation != nullptr && !allocation->of_graph ? allocation->pool.get() : nullptr;
  return cudaSuccess;
}
cudaError_t trim_pool(MemoryPool* pool, size_t min_bytes) {
  if (find(pool) == nullptr) return cudaErrorInvalidValue;
  trim(pool, min_bytes);
  return cudaSuccess;
}
cudaError_t allocate_from_pool(void** pointer, size_t size, const MemoryPool* pool,
                               cudaStream_t stream) {
  const std::shared_ptr<MemoryPool> owner = find(pool);
  if (pointer == nullptr || owner == nullptr) return cudaErrorInvalidValue;
  return allocate_from_pool(pointer, size, owner, stream);
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(MemoryPool** pool, int device) {
  return call("cudaDeviceGetDefaultMemPool", ApiScope::kHost,
              [&] { return core::find_default_pool(pool, device); });
}
cudaError_t cudaDeviceGetMemPool(MemoryPool** pool, int device) {
  return call("cudaDeviceGetMemPool", ApiScope::kHost,
              [&] { return core::find_current_pool(pool, device); });
}
cudaError_t cudaDeviceSetMemPool(int device, MemoryPool* pool) {
  return call("cudaDeviceSetMemPool", ApiScope::kHost,
              [&] { return core::set_current_pool(device, pool); });
}
cudaError_t cudaMemGetDefaultMemPool(MemoryPool** pool, MemLocation* location, int type) {
  return call("cudaMemGetDefaultMemPool", ApiScope::kHost,
              [&] { return core::find_default_pool(pool, location, type); });
}
cudaError_t cudaMemGetMemPool(MemoryPool** pool, MemLocation* location, int type) {
  return call("cudaMemGetMemPool", ApiScope::kHost,
              [&] { return core::find_current_pool(pool, location, type); });
}
cudaError_t cudaMemSetMemPool(MemLocation* location, int type, MemoryPool* pool) {
  return call("cudaMemSetMemPool", ApiScope::kHost,
              [&] { return core::set_current_pool(location, type, pool); });
}
cudaError_t cudaMemPoolCreate(MemoryPool** pool, const MemPoolProps* properties) {
  return call("cudaMemPoolCreate", ApiScope::kHost,
              [&] { return core::create_pool(pool, properties); });
}
cudaError_t cudaMemPoolDestroy(MemoryPool* pool) {
  return call("cudaMemPoolDestroy", ApiScope::kHost, [&] { return core::destroy_pool(pool); });
}
cudaError_t cudaMemPoolSetAttribute(MemoryPool* pool, int attribute, void* value) {
  return call("cudaMemPoolSetAttribute", ApiScope::kHost,
              [&] { return core::set_pool_attribute(pool, attribute, value); });
}
cudaError_t cudaMemPoolGetAttribute(MemoryPool* pool, int attribute, void* value) {
  return call("cudaMemPoolGetAttribute", ApiScope::kHost,
              [&] { return core::read_pool_attribute(pool, attribute, value); });
}
cudaError_t cudaMemPoolTrimTo(MemoryPool* pool, size_t min_bytes) {
  return call("cudaMemPoolTrimTo", ApiScope::kHost,
              [&] { return core::trim_pool(pool, min_bytes); });
}
cudaError_t cudaMemPoolSetAccess(MemoryPool* pool, const MemAccessDesc* all, size_t count) {
  return call("cudaMemPoolSetAccess", ApiScope::kHost,
              [&] { return core::set_pool_access(pool, all, count); });
}
cudaError_t cudaMemPoolGetAccess(int* flags, MemoryPool* pool, MemLocation* location) {
  return call("cudaMemPoolGetAccess", ApiScope::kHost,
              [&] { return core::read_pool_access(flags, pool, location); });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return with_graph_pool("cudaDeviceGetGraphMemAttribute", device, [&](MemoryPool* pool) {
    return core::read_pool_attribute(pool, pool_attribute_of(attribute), value);
  });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return with_graph_pool("cudaDeviceSetGraphMemAttribute", device, [&](MemoryPool* pool) {
    return core::set_pool_attribute(pool, pool_attribute_of(attribute), value);
  });
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return with_graph_pool("cudaDeviceGraphMemTrim", device, [](const MemoryPool* pool) {
    trim_graph_memory(pool->device);
    return cudaSuccess;
  });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, MemoryPool* pool,
                                    cudaStream_t stream) {
  return call("cudaMallocFromPoolAsync", ApiScope::kDevice,
              [&] { return core::allocate_from_pool(pointer, size, pool, stream); });
}

}  // extern "C"
