// SPDX-License-Identifier: Apache-2.0
// Host memory that a program allocates itself and registers for kernels. Source of the rules:
// cuda_runtime_api.h of CUDA 13.0 at cudaHostRegister, cudaHostUnregister and
// cudaHostGetDevicePointer.
#include "libcudart/host_memory.h"

#include <iterator>

#include "runtime/ranges.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

constexpr unsigned kPortable = 1, kMapped = 2, kIoMemory = 4, kReadOnly = 8;

bool overlaps_allocation(const void* memory, size_t size) {
  const auto& all = state().allocations;
  const auto* const begin = static_cast<const char*>(memory);
  const auto next = all.lower_bound(const_cast<char*>(begin) + size);
  if (next == all.begin()) return false;
  const auto& [begin_before, allocation] = *std::prev(next);
  return static_cast<const char*>(begin_before) + allocation.size > begin;
}

}  // namespace

cudaError_t core::register_host_memory(void* memory, size_t size, unsigned flags) {
  constexpr unsigned kAll = kPortable | kMapped | kIoMemory | kReadOnly;
  if (memory == nullptr || size == 0 || (flags & ~kAll) != 0) return cudaErrorInvalidValue;
  if (reinterpret_cast<uintptr_t>(memory) > SIZE_MAX - size) return cudaErrorInvalidValue;
  // No device supports these flags: cudaDevAttrHostRegisterReadOnlySupported is 0, and there is no
  // memory-mapped I/O.
  if ((flags & (kIoMemory | kReadOnly)) != 0) {
    return reject_argument(
        "flags: cudaHostRegisterReadOnly and cudaHostRegisterIoMemory are not supported; register "
        "writable memory of the process",
        cudaErrorNotSupported);
  }
  if (overlaps_allocation(memory, size)) return cudaErrorHostMemoryAlreadyRegistered;
  if (is_reserved(memory)) return cudaErrorInvalidValue;  // memory that CUDA has freed
  Allocation registered{size, thread_state().device, cudaMemoryTypeHost, false,
                        ++state().allocated};
  registered.registered = true;
  state().allocations[memory] = registered;
  return cudaSuccess;
}

cudaError_t core::unregister_host_memory(void* memory) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  const auto position = state().allocations.find(memory);
  if (position == state().allocations.end() || !position->second.registered) {
    return cudaErrorHostMemoryNotRegistered;
  }
  give_back_memory(memory, position->second);
  state().allocations.erase(position);
  return cudaSuccess;
}

cudaError_t core::find_device_pointer(void** on_device, void* on_host) {
  if (on_device == nullptr) return cudaErrorInvalidValue;
  const Allocation* allocation = allocation_of(on_host);
  const bool is_host = allocation != nullptr && allocation->type != cudaMemoryTypeDevice;
  *on_device = is_host ? on_host : nullptr;
  return is_host ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

cudaError_t cudaHostRegister(void* memory, size_t size, unsigned flags) {
  return call("cudaHostRegister", ApiScope::kUnsafe,
              [&] { return core::register_host_memory(memory, size, flags); });
}
cudaError_t cudaHostUnregister(void* memory) {
  return call("cudaHostUnregister", ApiScope::kUnsafe,
              [&] { return core::unregister_host_memory(memory); });
}
cudaError_t cudaHostGetDevicePointer(void** on_device, void* on_host, unsigned) {
  return call("cudaHostGetDevicePointer", ApiScope::kDevice,
              [&] { return core::find_device_pointer(on_device, on_host); });
}

}  // extern "C"
