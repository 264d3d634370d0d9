// SPDX-License-Identifier: Apache-2.0
// Advice and prefetches for managed memory. Host and devices access managed memory concurrently, as
// GPUs with cudaDevAttrConcurrentManagedAccess do, so a valid call has no effect. Source of the
// rules: cuda_runtime_api.h of CUDA 13.0 at cudaMemAdvise, cudaMemPrefetchAsync and
// cudaStreamAttachMemAsync.
#include "libcudart/managed_memory.h"

#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

enum Advice : int {
  kSetReadMostly = 1,
  kUnsetReadMostly = 2,
  kSetPreferredLocation = 3,
  kUnsetPreferredLocation = 4,
  kSetAccessedBy = 5,
  kUnsetAccessedBy = 6,
};
constexpr unsigned kAttachGlobal = 1, kAttachHost = 2, kAttachSingle = 4;

const Allocation* managed_allocation(const void* address) {
  const Allocation* allocation = allocation_of(address);
  return allocation != nullptr && allocation->type == cudaMemoryTypeManaged ? allocation : nullptr;
}

bool is_managed_variable(const void* address) {
  cudaPointerAttributes attributes{};
  return is_variable(address, &attributes) && attributes.type == cudaMemoryTypeManaged;
}

// Returns whether the first and the last of `size` bytes are in the same managed allocation, or
// both in managed variables.
bool is_managed(const void* memory, size_t size) {
  if (memory == nullptr || size == 0) return false;
  if (reinterpret_cast<uintptr_t>(memory) > SIZE_MAX - size) return false;
  const char* last = static_cast<const char*>(memory) + size - 1;
  if (const Allocation* allocation = managed_allocation(memory)) {
    return managed_allocation(last) == allocation;
  }
  return is_managed_variable(memory) && is_managed_variable(last);
}

// Checks the location of advice or of a prefetch. NUMA nodes of the host cannot be selected by
// number, since cudaDevAttrHostNumaId is -1.
cudaError_t check_location(const MemLocation& location) {
  switch (location.type) {
    case kLocationDevice: return exists(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
    case kLocationHost:
    case kLocationHostNumaCurrent: return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

namespace core {

cudaError_t advise(const void* memory, size_t size, int advice, const MemLocation& location) {
  if (!is_managed(memory, size)) return cudaErrorInvalidValue;
  switch (advice) {
    case kSetReadMostly:
    case kUnsetReadMostly:
    case kUnsetPreferredLocation: return cudaSuccess;
    case kSetPreferredLocation: return check_location(location);
    case kSetAccessedBy:
    case kUnsetAccessedBy:
      return location.type == kLocationHostNumaCurrent ? cudaErrorInvalidValue
                                                       : check_location(location);
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t prefetch(const void* memory, size_t size, const MemLocation& location, unsigned flags,
                     cudaStream_t stream) {
  if (flags != 0 || !is_managed(memory, size)) return cudaErrorInvalidValue;
  const cudaError_t error = check_location(location);
  return error != cudaSuccess ? error : enqueue(stream, [] {});
}

cudaError_t attach_to_stream(cudaStream_t stream, const void* memory, size_t size, unsigned flags) {
  if (flags != kAttachGlobal && flags != kAttachHost && flags != kAttachSingle) {
    return cudaErrorInvalidValue;
  }
  if (flags == kAttachSingle && is_default_stream(stream)) return cudaErrorInvalidValue;
  const auto position = state().allocations.find(const_cast<void*>(memory));
  const bool is_allocation =
      position != state().allocations.end() && position->second.type == cudaMemoryTypeManaged;
  if (!is_allocation && !is_managed_variable(memory)) return cudaErrorInvalidValue;
  if (is_allocation && size != 0 && size != position->second.size) return cudaErrorInvalidValue;
  return enqueue(stream, [] {});
}

}  // namespace core
}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaMemAdvise(const void* memory, size_t size, int advice, MemLocation location) {
  return call("cudaMemAdvise", ApiScope::kDevice,
              [&] { return core::advise(memory, size, advice, location); });
}
cudaError_t cudaMemPrefetchAsync(const void* memory, size_t size, MemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", ApiScope::kDevice,
              [&] { return core::prefetch(memory, size, location, flags, stream); });
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, size_t size,
                                     unsigned flags) {
  return call("cudaStreamAttachMemAsync", ApiScope::kDevice,
              [&] { return core::attach_to_stream(stream, memory, size, flags); });
}

}  // extern "C"
