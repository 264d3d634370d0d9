// SPDX-License-Identifier: Apache-2.0
// Memory that nobody may touch: AddressSanitizer reports a read or a write of it.
#pragma once

#include <cstddef>

#include "kernkit/base/asan.h"

#if defined(KERNKIT_ASAN)
// sanitizer/asan_interface.h
extern "C" {
void __asan_poison_memory_region(const volatile void* memory, size_t size);
void __asan_unpoison_memory_region(const volatile void* memory, size_t size);
}
#define KERNKIT_SEES_CLOSED_MEMORY __attribute__((no_sanitize("address")))
#define KERNKIT_CLOSES_MEMORY 1
#else
#define KERNKIT_SEES_CLOSED_MEMORY
#define KERNKIT_CLOSES_MEMORY 0
#endif

namespace kernkit::testing {

/// Without AddressSanitizer these do nothing. It knows of each 8 bytes how many of the first may be
/// touched: memory is closed from its very first byte on, but where it ends between two multiples
/// of 8, up to 7 bytes in front of that stay open.
inline void close_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#if defined(KERNKIT_ASAN)
  __asan_poison_memory_region(memory, size);
#endif
}
inline void open_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#if defined(KERNKIT_ASAN)
  __asan_unpoison_memory_region(memory, size);
#endif
}

}  // namespace kernkit::testing
