// SPDX-License-Identifier: Apache-2.0
// Memory, and copies of it.
#include <cstring>

#include "sanitizers.h"
#include "state.h"

namespace kernkit::testing {
namespace {

// An allocation of so many bytes is not filled, and exists where it is touched.
constexpr size_t kSparse = size_t{1} << 28;

cudaError_t allocate(void** pointer, size_t size, cudaMemoryType type) {
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  const auto device = static_cast<size_t>(thread_state().device);
  DeviceState& of_device = state().device_states.at(device);
  const bool counts = type == cudaMemoryTypeDevice;
  const size_t free = state().devices[device].memory - of_device.used;
  if (counts && size > free) return cudaErrorMemoryAllocation;
  if (size > SIZE_MAX - 255) return cudaErrorMemoryAllocation;
  const Allocation allocation = {size, thread_state().device, type, size >= kSparse};
  void* memory = take_memory(allocation);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  if (counts) of_device.used += size;
  state().allocations[memory] = allocation;
  *pointer = memory;
  return cudaSuccess;
}

bool can_release(void* pointer, bool host) {
  const auto found = state().allocations.find(pointer);
  return pointer == nullptr ||
         (found != state().allocations.end() && (found->second.type == cudaMemoryTypeHost) == host);
}

void copy(void* to, const void* from, size_t size) {
  const RaceSeen of_device;
  if (size != 0) std::memmove(to, from, size);
}
// CUDA Runtime API, "API synchronization behavior": memory that CUDA did not allocate is read
// before the call returns, and was written when it returns. In a graph it is read when that runs.
cudaError_t copy_async(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                       cudaStream_t stream) {
  const bool captured = knows(stream) && !is_default_stream(stream) && stream->capturing;
  const bool reads = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDefault;
  const bool writes = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDefault;
  if (reads && !captured && allocation_of(from) == nullptr && allocation_of(to) != nullptr) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    return enqueue(stream, [to, staged = std::vector<unsigned char>(bytes, bytes + size)] {
      copy(to, staged.data(), staged.size());
    });
  }
  const cudaError_t error = enqueue(stream, [=] { copy(to, from, size); });
  if (error == cudaSuccess && writes && !captured && allocation_of(to) == nullptr &&
      allocation_of(from) != nullptr) {
    drain(thread_state().device, stream);
    return error_of_device();
  }
  return error;
}
void fill(void* pointer, int value, size_t size) {
  const RaceSeen of_device;
  std::memset(pointer, value, size);
}

cudaError_t release(void* pointer, bool host) {
  if (pointer == nullptr) return cudaSuccess;
  if (!can_release(pointer, host)) return cudaErrorInvalidValue;
  const auto found = state().allocations.find(pointer);
  if (found->second.type == cudaMemoryTypeDevice) {
    state().device_states.at(static_cast<size_t>(found->second.device)).used -= found->second.size;
  }
  give_back_memory(pointer, found->second);
  state().allocations.erase(found);
  return cudaSuccess;
}

}  // namespace
}  // namespace kernkit::testing

using namespace kernkit::testing;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return call("cudaMalloc", Reach::kUnsafe,
              [&] { return allocate(pointer, size, cudaMemoryTypeDevice); });
}
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return call("cudaMallocAsync", Reach::kDevice, [&] {
    const cudaError_t error = enqueue(stream, [] {});
    return error != cudaSuccess ? error : allocate(pointer, size, cudaMemoryTypeDevice);
  });
}
cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return call("cudaMallocHost", Reach::kUnsafe,
              [&] { return allocate(pointer, size, cudaMemoryTypeHost); });
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned) {
  return call("cudaHostAlloc", Reach::kUnsafe,
              [&] { return allocate(pointer, size, cudaMemoryTypeHost); });
}
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned) {
  return call("cudaMallocManaged", Reach::kUnsafe,
              [&] { return allocate(pointer, size, cudaMemoryTypeManaged); });
}
cudaError_t cudaFree(void* pointer) {
  return call("cudaFree", Reach::kUnsafe, [&] {
    for (size_t i = 0; i < state().devices.size(); ++i) drain_device(static_cast<int>(i));
    return release(pointer, false);
  });
}
cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", Reach::kUnsafe, [&] { return release(pointer, true); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", Reach::kDevice, [&] {
    if (!can_release(pointer, false)) return cudaErrorInvalidValue;
    return enqueue(stream, [=] { release(pointer, false); });
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind) {
  return call("cudaMemcpy", Reach::kUnsafe, [&] {
    const cudaError_t error = enqueue(nullptr, [=] { copy(to, from, size); });
    drain(thread_state().device, nullptr);
    return error != cudaSuccess ? error : error_of_device();
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call("cudaMemcpyAsync", Reach::kDevice,
              [&] { return copy_async(to, from, size, kind, stream); });
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) {
  return call("cudaMemset", Reach::kUnsafe,
              [&] { return enqueue(nullptr, [=] { fill(pointer, value, size); }); });
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t stream) {
  return call("cudaMemsetAsync", Reach::kDevice,
              [&] { return enqueue(stream, [=] { fill(pointer, value, size); }); });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", Reach::kDevice, [&] {
    const auto device = static_cast<size_t>(thread_state().device);
    *total = state().devices[device].memory;
    *free = *total - state().device_states[device].used;
    return cudaSuccess;
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call("cudaPointerGetAttributes", Reach::kHost, [&] {
    *attributes = {};
    attributes->device = -1;
    const Allocation* allocation = allocation_of(pointer);
    if (allocation == nullptr) return cudaSuccess;
    attributes->type = allocation->type;
    attributes->device = allocation->device;
    if (allocation->type != cudaMemoryTypeHost) {
      attributes->devicePointer = const_cast<void*>(pointer);
    }
    if (allocation->type != cudaMemoryTypeDevice) {
      attributes->hostPointer = const_cast<void*>(pointer);
    }
    return cudaSuccess;
  });
}

}  // extern "C"
