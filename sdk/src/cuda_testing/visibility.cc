// SPDX-License-Identifier: Apache-2.0
#include "visibility.h"

#include "sanitizers.h"
#include "state.h"

namespace kernkit::testing {
namespace {

int living = 0;

void show(bool visible) {
  for (const auto& [pointer, allocation] : state().allocations) {
    if (allocation.type != cudaMemoryTypeDevice || allocation.sparse) continue;
    (visible ? open_memory : close_memory)(pointer, allocation.size);
  }
}

}  // namespace

DeviceMemoryVisible::DeviceMemoryVisible() {
  if (living++ == 0) show(true);
}
DeviceMemoryVisible::~DeviceMemoryVisible() {
  if (--living == 0) show(false);
}

}  // namespace kernkit::testing
