// SPDX-License-Identifier: Apache-2.0
#include "runtime/visibility.h"

#include "platform/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

int living = 0;

void show(bool visible) {
  for (const auto& [pointer, allocation] : state().allocations) {
    if (allocation.type != cudaMemoryTypeDevice || allocation.sparse) continue;
    (visible ? unpoison_memory : poison_memory)(pointer, allocation.size);
  }
}

void close_to_kernels(bool close) {
  for (const auto& [pointer, allocation] : state().allocations) {
    for (const auto& [memory, size] : allocation.closed) {
      (close ? poison_memory : unpoison_memory)(memory, size);
    }
  }
}

// Enqueues a call of `change` with the closed ranges of the allocation that contains `memory`.
template <class Change>
void change_closed(const void* memory, cudaStream_t stream, const Change& change) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  (void)enqueue(stream, [=] {
    if (const Allocation* allocation = allocation_of(memory)) {
      change(&const_cast<Allocation*>(allocation)->closed);
    }
  });
}

}  // namespace

ClosedMemoryInvisible::ClosedMemoryInvisible() { close_to_kernels(true); }
ClosedMemoryInvisible::~ClosedMemoryInvisible() { close_to_kernels(false); }

DeviceMemoryVisible::DeviceMemoryVisible() {
  if (living++ == 0) show(true);
}
DeviceMemoryVisible::~DeviceMemoryVisible() {
  if (--living == 0) show(false);
}

}  // namespace kernkit::simulator

using namespace kernkit::simulator;  // NOLINT(build/namespaces): these are its functions

extern "C" {

void kernkit_close_to_kernels(const void* memory, size_t size, cudaStream_t stream) {
  change_closed(memory, stream, [=](auto* closed) {
    closed->emplace_back(static_cast<const char*>(memory), size);
  });
}
void kernkit_open_to_kernels(const void* memory, cudaStream_t stream) {
  change_closed(memory, stream, [](auto* closed) { closed->clear(); });
}

}  // extern "C"
