// SPDX-License-Identifier: Apache-2.0
// Memory functions of the runtime.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "platform/sanitizers.h"
#include "runtime/core/graphs.h"
#include "runtime/core/memory.h"
#include "runtime/ranges.h"
#include "runtime/state.h"
#include "runtime/visibility.h"

namespace kernkit::simulator {
namespace {

// Smallest size of a sparse allocation [bytes]. A sparse allocation is not filled, so only the
// pages that are accessed take memory.
constexpr size_t kSparse = size_t{1} << 28;
constexpr size_t kPitch = 512;  // granularity of pitches [bytes]

cudaError_t allocate(void** pointer, size_t size, cudaMemoryType type, int on_device,
                     const std::shared_ptr<MemoryPool>& pool = nullptr, bool of_graph = false) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  const bool of_device = type == cudaMemoryTypeDevice;
  if (size > SIZE_MAX - 255) return cudaErrorMemoryAllocation;
  if (of_device && size > state().devices.at(static_cast<size_t>(on_device)).memory) {
    return cudaErrorMemoryAllocation;
  }
  Allocation allocation{size, on_device, type, size >= kSparse, ++state().allocated};
  allocation.pool = pool;
  allocation.of_graph = of_graph;
  allocation.context = current_context();
  allocation.live = !of_graph;
  allocation.counted = of_device && !of_graph;
  allocation.allocated_by = thread_state().entry;
  if (allocation.counted && !has_room(on_device, pool.get(), size)) {
    return cudaErrorMemoryAllocation;
  }
  void* memory = take_memory(allocation);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  if (allocation.counted) count_allocated(allocation);
  if (of_device) runtime_hooks.memory(MemoryStep::kAllocated, memory, size, nullptr);
  state().allocations[memory] = allocation;
  *pointer = memory;
  return cudaSuccess;
}

// Checks the pointer argument of a function that frees host or device memory.
cudaError_t check_release(void* pointer, bool host) {
  if (pointer == nullptr) return cudaSuccess;
  const auto position = state().allocations.find(pointer);
  const std::string argument = host ? "ptr: " : "devPtr: ";
  if (position == state().allocations.end()) {
    const bool inside = allocation_of(pointer) != nullptr;
    return reject_argument(argument + address_text(pointer) +
                           (inside ? "; expected its first byte" : ""));
  }
  const Allocation& allocation = position->second;
  if (allocation.registered) {
    return reject_argument(argument + "registered memory of the program; use cudaHostUnregister()");
  }
  if ((allocation.type == cudaMemoryTypeHost) != host) {
    return reject_argument(argument + (host ? "memory of a device; use cudaFree()"
                                            : "memory of the host; use cudaFreeHost()"));
  }
  if (!allocation.freed && (allocation.held || !allocation.of_graph)) return cudaSuccess;
  return reject_argument(argument + address_text(pointer));
}

// Returns the allocation with this number at an address; end() if that allocation was freed.
std::map<void*, Allocation>::iterator find(void* pointer, unsigned long number) {
  const auto position = state().allocations.find(pointer);
  const auto end = state().allocations.end();
  return position != end && position->second.number == number ? position : end;
}

void release(std::map<void*, Allocation>::iterator position) {
  if (position == state().allocations.end()) return;
  auto& [pointer, allocation] = *position;
  if (allocation.counted) count_released(allocation);
  if (*allocation.freed_by == '\0') allocation.freed_by = thread_state().entry;
  give_back_memory(pointer, allocation);
  state().allocations.erase(position);
}

bool holds(const std::vector<GraphNode>& nodes, void* GraphNode::*member, void* pointer) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const GraphNode& node) { return node.*member == pointer; });
}

void count_no_longer(Allocation* allocation) {
  if (!allocation->counted) return;
  count_released(*allocation);
  allocation->counted = false;
}

// Marks memory of a graph as freed. The memory stays reserved if an executable graph exists that
// allocates the memory again at its next launch.
void end_hold(void* pointer, Allocation* allocation) {
  allocation->held = false;
  const auto& execs = state().execs;
  if (std::none_of(execs.begin(), execs.end(), [&](const CUgraphExec_st* exec) {
        return holds(exec->nodes, &GraphNode::allocates, pointer);
      })) {
    count_no_longer(allocation);
  }
}

// Returns whether a later graph launch in `queue` can reuse memory that is reserved for a graph:
// only ended launches, or earlier launches in `queue`, use the memory.
bool is_unused(const Allocation& allocation, const std::pair<int, cudaStream_t>& queue) {
  if (!allocation.of_graph || !allocation.counted || allocation.held) return false;
  return allocation.ended == nullptr || *allocation.ended >= allocation.launches ||
         allocation.queue == queue;
}

cudaError_t release(void* pointer, bool host) {
  const cudaError_t invalid = check_release(pointer, host);
  if (invalid != cudaSuccess) return invalid;
  const auto position = state().allocations.find(pointer);
  if (position != state().allocations.end() && position->second.of_graph) {
    position->second.live = false;  // the address remains reserved for the graph
    end_hold(pointer, &position->second);
  } else {
    release(position);
  }
  return cudaSuccess;
}

// Memory that a graph allocates. The address is fixed while the graph or one of its executable
// graphs exists, and each launch allocates the memory again. If the program has not freed the
// memory of the last launch, the destructor leaves the memory allocated.
struct GraphMemory {
  GraphMemory(void* at, unsigned long its_number) : pointer(at), number(its_number) {}
  ~GraphMemory() {
    const auto position = find(pointer, number);
    if (position == state().allocations.end()) return;
    if (position->second.held) {
      position->second.of_graph = false;
    } else {
      release(position);
    }
  }
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  void* pointer;
  unsigned long number;
};

void begin_live(void* pointer, unsigned long number) {
  const auto position = find(pointer, number);
  if (position == state().allocations.end()) return;
  const Allocation& allocation = position->second;
  position->second.live = true;
  runtime_hooks.memory(MemoryStep::kAllocated, pointer, allocation.size, nullptr);
  runtime_hooks.memory(MemoryStep::kBegins, pointer, allocation.size, nullptr);
  const DeviceMemoryVisible visible;
  if (!allocation.sparse) std::memset(pointer, state().settings.poison, allocation.size);
}

void end_live(void* pointer, unsigned long number) {
  const auto position = find(pointer, number);
  if (position == state().allocations.end()) return;
  runtime_hooks.memory(MemoryStep::kEnds, pointer, position->second.size, nullptr);
  if (!position->second.of_graph) return release(position);
  position->second.live = false;
}

}  // namespace

namespace core {

cudaError_t allocate_from_pool(void** pointer, size_t size, const std::shared_ptr<MemoryPool>& pool,
                               cudaStream_t stream) {
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  const bool in_graph = captured(stream) != nullptr;
  const auto device = static_cast<size_t>(pool->device);
  const cudaError_t error =
      simulator::allocate(pointer, size, cudaMemoryTypeDevice, pool->device,
                          in_graph ? state().device_states.at(device).graph_pool : pool, in_graph);
  if (error != cudaSuccess || *pointer == nullptr) return error;
  if (!in_graph) {
    const auto begins = [p = *pointer, size] {
      runtime_hooks.memory(MemoryStep::kBegins, p, size, nullptr);
    };
    return enqueue(stream, begins, NodeKind::kMemAlloc);
  }
  const auto memory =
      std::make_shared<GraphMemory>(*pointer, state().allocations.at(*pointer).number);
  GraphNode node{
      [memory] { begin_live(memory->pointer, memory->number); }, {}, NodeKind::kMemAlloc};
  node.allocates = *pointer;
  return enqueue(stream, std::move(node));
}

}  // namespace core

namespace {

// Adds a node that frees `pointer` to the captured graph. The captured graph or another graph
// allocates the memory.
cudaError_t free_in_graph(void* pointer, cudaStream_t stream) {
  const auto position = state().allocations.find(pointer);
  if (position == state().allocations.end() || !position->second.of_graph) {
    return reject_argument(
        "devPtr: " + address_text(pointer) +
        ", which no graph allocated; expected memory that cudaMallocAsync() returned "
        "during a capture");
  }
  for (const GraphNode& node : captured(stream)->capture->nodes) {
    if (node.frees == pointer) {
      return reject_argument("devPtr: the graph already frees this memory; free it once");
    }
  }
  GraphNode node{[pointer, number = position->second.number] { end_live(pointer, number); },
                 {},
                 NodeKind::kMemFree};
  node.frees = pointer;
  return enqueue(stream, std::move(node));
}

}  // namespace

cudaError_t core::free_async(void* pointer, cudaStream_t stream) {
  const cudaError_t rejected = reject_work(stream);
  if (rejected != cudaSuccess) return rejected;
  if (pointer == nullptr) return enqueue(stream, [] {});
  if (captured(stream) != nullptr) return free_in_graph(pointer, stream);
  const cudaError_t invalid = check_release(pointer, false);
  if (invalid != cudaSuccess) return invalid;
  Allocation& allocation = state().allocations.at(pointer);
  allocation.freed = !allocation.of_graph;
  if (allocation.freed) allocation.freed_by = thread_state().entry;
  if (allocation.of_graph) end_hold(pointer, &allocation);
  const auto ends = [pointer, number = allocation.number] { end_live(pointer, number); };
  return enqueue(stream, ends, NodeKind::kMemFree);
}

cudaError_t check_memory_of_launch(const std::vector<GraphNode>& nodes) {
  for (const GraphNode& node : nodes) {
    if (node.allocates != nullptr && !holds(nodes, &GraphNode::frees, node.allocates) &&
        state().allocations.at(node.allocates).held) {
      return reject_argument("graphExec: the graph's last launch allocated " +
                             bytes_text(state().allocations.at(node.allocates).size) +
                             " that are not freed; free them before the next launch");
    }
    if (node.frees == nullptr || holds(nodes, &GraphNode::allocates, node.frees)) continue;
    const auto position = state().allocations.find(node.frees);
    if (position == state().allocations.end() || !position->second.held) {
      return reject_argument("graphExec: the graph frees " + address_text(node.frees));
    }
  }
  return cudaSuccess;
}

void hold_memory_of_launch(const std::vector<GraphNode>& nodes) {
  for (const GraphNode& node : nodes) {
    if (node.allocates != nullptr) {
      state().allocations.at(node.allocates).held =
          !holds(nodes, &GraphNode::frees, node.allocates);
    } else if (node.frees != nullptr && !holds(nodes, &GraphNode::allocates, node.frees)) {
      end_hold(node.frees, &state().allocations.at(node.frees));
    }
  }
}

cudaError_t count_graph_memory(const CUgraphExec_st& exec, cudaStream_t stream, unsigned launches) {
  const std::pair<int, cudaStream_t> queue{device_of(stream), stream};
  for (const GraphNode& node : exec.nodes) {
    if (node.allocates == nullptr) continue;
    Allocation& allocation = state().allocations.at(node.allocates);
    const MemoryPool& pool = *allocation.pool;
    for (auto& [pointer, other] : state().allocations) {
      if (allocation.counted || pool.reserved - pool.used >= allocation.size) break;
      const bool is_own = holds(exec.nodes, &GraphNode::allocates, pointer);
      if (other.pool == allocation.pool && !is_own && is_unused(other, queue)) {
        count_no_longer(&other);
      }
    }
    if (!allocation.counted) {
      if (!has_room(allocation.device, &pool, allocation.size)) return cudaErrorMemoryAllocation;
      count_allocated(allocation);
      allocation.counted = true;
    }
    allocation.queue = queue;
    allocation.ended = exec.ended;
    allocation.launches = launches;
  }
  return cudaSuccess;
}

void trim_graph_memory(int device) {
  for (auto& [pointer, allocation] : state().allocations) {
    if (allocation.device == device && is_unused(allocation, {-1, nullptr})) {
      count_no_longer(&allocation);
    }
  }
  trim(state().device_states.at(static_cast<size_t>(device)).graph_pool.get(), 0);
}

cudaError_t core::destroy_instance(CUgraphExec_st* exec) {
  if (state().execs.erase(exec) == 0) return cudaErrorInvalidResourceHandle;
  for (const GraphNode& node : exec->nodes) {
    if (node.allocates == nullptr) continue;
    Allocation& allocation = state().allocations.at(node.allocates);
    if (!allocation.held) count_no_longer(&allocation);
  }
  delete exec;
  return cudaSuccess;
}

namespace core {

cudaError_t allocate(void** pointer, size_t size, cudaMemoryType type) {
  return simulator::allocate(pointer, size, type, thread_state().device);
}
cudaError_t allocate_managed(void** pointer, size_t size, unsigned flags) {
  constexpr unsigned kAttachGlobal = 1, kAttachHost = 2;
  if (size == 0 || (flags != kAttachGlobal && flags != kAttachHost)) return cudaErrorInvalidValue;
  return allocate(pointer, size, cudaMemoryTypeManaged);
}
cudaError_t allocate_rows(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  size_t size = 0;
  if (width > SIZE_MAX - kPitch) return cudaErrorMemoryAllocation;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (__builtin_mul_overflow(*pitch, height, &size)) return cudaErrorMemoryAllocation;
  return allocate(pointer, size, cudaMemoryTypeDevice);
}
cudaError_t allocate_async(void** pointer, size_t size, cudaStream_t stream) {
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  const auto device = static_cast<size_t>(device_of(stream));
  return allocate_from_pool(pointer, size, state().device_states.at(device).pool, stream);
}
cudaError_t free_memory(void* pointer) {
  for (size_t i = 0; i < state().devices.size(); ++i) drain_device(static_cast<int>(i));
  const cudaError_t error = release(pointer, false);
  return error != cudaSuccess ? error : error_of_device(thread_state().device);
}
cudaError_t free_host_memory(void* pointer) { return release(pointer, true); }

void free_memory_of_context(const CUctx_st* context) {
  std::vector<void*> owned;
  for (const auto& [pointer, allocation] : state().allocations) {
    const bool is_owned = allocation.context == context && !allocation.registered;
    if (is_owned && !allocation.of_graph) owned.push_back(pointer);
  }
  for (void* pointer : owned) simulator::release(state().allocations.find(pointer));
}

cudaError_t read_memory_sizes(size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
  const auto device = static_cast<size_t>(thread_state().device);
  *total = state().devices[device].memory;
  *free = *total - state().device_states[device].used;
  return cudaSuccess;
}

cudaError_t read_pointer(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  *attributes = {};
  attributes->device = -1;
  const Allocation* allocation = allocation_of(pointer);
  if (allocation != nullptr) {
    attributes->type = allocation->type;
    attributes->device = allocation->device;
  } else if (!is_variable(pointer, attributes)) {
    return cudaSuccess;
  }
  void* const address = const_cast<void*>(pointer);
  if (attributes->type != cudaMemoryTypeHost) attributes->devicePointer = address;
  if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = address;
  return cudaSuccess;
}

cudaError_t find_range(void** begin, size_t* size, const void* address) {
  const auto& all = state().allocations;
  const auto next = all.upper_bound(const_cast<void*>(address));
  VariableRange variable{};
  if (const Allocation* allocation = allocation_of(address)) {
    variable = {static_cast<const char*>(std::prev(next)->first), allocation->size};
  } else if (!find_variable(address, &variable)) {
    return cudaErrorSymbolNotFound;
  }
  if (begin != nullptr) *begin = const_cast<char*>(variable.begin);
  if (size != nullptr) *size = variable.size;
  return cudaSuccess;
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return call("cudaMalloc", ApiScope::kUnsafe,
              [&] { return core::allocate(pointer, size, cudaMemoryTypeDevice); });
}
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return call("cudaMallocAsync", ApiScope::kDevice,
              [&] { return core::allocate_async(pointer, size, stream); });
}
cudaError_t cudaMallocHost(void** pointer, size_t size) {
  return call("cudaMallocHost", ApiScope::kUnsafe,
              [&] { return core::allocate(pointer, size, cudaMemoryTypeHost); });
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned) {
  return call("cudaHostAlloc", ApiScope::kUnsafe,
              [&] { return core::allocate(pointer, size, cudaMemoryTypeHost); });
}
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return call("cudaMallocManaged", ApiScope::kUnsafe,
              [&] { return core::allocate_managed(pointer, size, flags); });
}
cudaError_t cudaFree(void* pointer) {
  return call("cudaFree", ApiScope::kUnsafe, [&] { return core::free_memory(pointer); });
}
cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", ApiScope::kUnsafe, [&] { return core::free_host_memory(pointer); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", ApiScope::kDevice,
              [&] { return core::free_async(pointer, stream); });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", ApiScope::kDevice,
              [&] { return core::read_memory_sizes(free, total); });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call("cudaPointerGetAttributes", ApiScope::kHost,
              [&] { return core::read_pointer(attributes, pointer); });
}

}  // extern "C"
