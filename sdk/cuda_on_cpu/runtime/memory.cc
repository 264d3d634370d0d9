// SPDX-License-Identifier: Apache-2.0
// Memory.
#include "process/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

// An allocation of so many bytes is not filled, and exists where it is touched.
constexpr size_t kSparse = size_t{1} << 28;

cudaError_t allocate(void** pointer, size_t size, cudaMemoryType type,
                     int on_device = thread_state().device,
                     const std::shared_ptr<MemoryPool>& pool = nullptr) {
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  const bool counts = type == cudaMemoryTypeDevice;
  if (size > SIZE_MAX - 255) return cudaErrorMemoryAllocation;
  if (counts && !has_room(on_device, pool.get(), size)) return cudaErrorMemoryAllocation;
  Allocation allocation{size, on_device, type, size >= kSparse, ++state().allocated};
  allocation.pool = pool;
  void* memory = take_memory(allocation);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  if (counts) count_allocated(allocation);
  if (counts) tell_memory(MemoryStep::kAllocated, memory, size, nullptr);
  state().allocations[memory] = allocation;
  *pointer = memory;
  return cudaSuccess;
}

bool can_release(void* pointer, bool host) {
  const auto found = state().allocations.find(pointer);
  return pointer == nullptr ||
         (found != state().allocations.end() && !found->second.freed && !found->second.registered &&
          (found->second.type == cudaMemoryTypeHost) == host);
}

// What was allocated there; null when that is gone.
std::map<void*, Allocation>::iterator find(void* pointer, unsigned long number) {
  const auto found = state().allocations.find(pointer);
  const auto end = state().allocations.end();
  return found != end && found->second.number == number ? found : end;
}

void release(std::map<void*, Allocation>::iterator found) {
  if (found == state().allocations.end()) return;
  const auto& [pointer, allocation] = *found;
  if (allocation.type == cudaMemoryTypeDevice) count_released(allocation);
  give_back_memory(pointer, allocation);
  state().allocations.erase(found);
}

cudaError_t release(void* pointer, bool host) {
  if (!can_release(pointer, host)) return cudaErrorInvalidValue;
  release(state().allocations.find(pointer));
  return cudaSuccess;
}

// What a graph allocates is its own, at one address each time that it runs, until the graph and
// all that was made of it are gone, or until it is freed outside of it.
struct GraphMemory {
  ~GraphMemory() { release(find(pointer, number)); }
  void* pointer;
  unsigned long number;
};

}  // namespace

cudaError_t allocate_async(void** pointer, size_t size, const std::shared_ptr<MemoryPool>& pool,
                           cudaStream_t stream) {
  const cudaError_t refused = refuse_work(stream);
  if (refused != cudaSuccess) return refused;
  // Memory that a graph allocates is of no pool.
  const cudaError_t error = allocate(pointer, size, cudaMemoryTypeDevice, pool->device,
                                     captured(stream) == nullptr ? pool : nullptr);
  if (error != cudaSuccess) return error;
  const auto begins = [p = *pointer, size] { tell_memory(MemoryStep::kBegins, p, size, nullptr); };
  if (captured(stream) == nullptr || *pointer == nullptr) {
    return enqueue(stream, begins, NodeKind::kMemAlloc);
  }
  Allocation& allocation = state().allocations.at(*pointer);
  allocation.of_graph = true;
  const std::shared_ptr<GraphMemory> memory(new GraphMemory{*pointer, allocation.number});
  return enqueue(
      stream, [memory, begins] { begins(); }, NodeKind::kMemAlloc);
}

namespace {

cudaError_t free_async(void* pointer, cudaStream_t stream) {
  const cudaError_t refused = refuse_work(stream);
  if (refused != cudaSuccess) return refused;
  if (!can_release(pointer, false)) return cudaErrorInvalidValue;
  const auto found = state().allocations.find(pointer);
  if (found == state().allocations.end()) return enqueue(stream, [] {});
  const bool in_graph = captured(stream) != nullptr;
  if (in_graph && !found->second.of_graph) return cudaErrorInvalidValue;
  found->second.freed = true;
  return enqueue(
      stream,
      [pointer, in_graph, allocation = found->second] {
        tell_memory(MemoryStep::kEnds, pointer, allocation.size, nullptr);
        if (!in_graph) release(find(pointer, allocation.number));
      },
      NodeKind::kMemFree);
}

}  // namespace
}  // namespace kernkit::cuda_on_cpu

using namespace kernkit::cuda_on_cpu;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return call("cudaMalloc", Reach::kUnsafe,
              [&] { return allocate(pointer, size, cudaMemoryTypeDevice); });
}
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return call("cudaMallocAsync", Reach::kDevice, [&] {
    if (!knows(stream)) return cudaErrorInvalidResourceHandle;
    const auto device = static_cast<size_t>(device_of(stream));
    return allocate_async(pointer, size, state().device_states.at(device).pool, stream);
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
    const cudaError_t error = release(pointer, false);
    return error != cudaSuccess ? error : error_of_device(thread_state().device);
  });
}
cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", Reach::kUnsafe, [&] { return release(pointer, true); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", Reach::kDevice, [&] { return free_async(pointer, stream); });
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
    if (allocation != nullptr) {
      attributes->type = allocation->type;
      attributes->device = allocation->device;
    } else if (is_ptx_variable == nullptr || !is_ptx_variable(pointer, attributes)) {
      return cudaSuccess;
    }
    void* const address = const_cast<void*>(pointer);
    if (attributes->type != cudaMemoryTypeHost) attributes->devicePointer = address;
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = address;
    return cudaSuccess;
  });
}

}  // extern "C"
