// SPDX-License-Identifier: Apache-2.0
#include "visibility.h"

#include "sanitizers.h"
#include "state.h"

namespace kernkit::testing {
namespace {

int living = 0;

void show([[maybe_unused]] bool visible) {
#if defined(KERNKIT_ASAN)
  for (const auto& [pointer, allocation] : state().allocations) {
    if (allocation.type != cudaMemoryTypeDevice || allocation.sparse) continue;
    if (visible) {
      __asan_unpoison_memory_region(pointer, allocation.size);
    } else {
      __asan_poison_memory_region(pointer, allocation.size);
    }
  }
#endif
}

}  // namespace

DeviceMemoryVisible::DeviceMemoryVisible() {
  if (living++ == 0) show(true);
}
DeviceMemoryVisible::~DeviceMemoryVisible() {
  if (--living == 0) show(false);
}

}  // namespace kernkit::testing
