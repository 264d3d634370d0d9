// SPDX-License-Identifier: Apache-2.0
// Poisoned memory: memory whose reads and writes AddressSanitizer reports.
#pragma once

#include <cstddef>

#include "kernkit/base/asan.h"

#if defined(KERNKIT_ASAN)
// sanitizer/asan_interface.h
extern "C" {
void __asan_poison_memory_region(const volatile void* memory, size_t size);
void __asan_unpoison_memory_region(const volatile void* memory, size_t size);
}
/// Marks a function that may read poisoned memory without a report of AddressSanitizer.
#define KERNKIT_READS_POISONED_MEMORY __attribute__((no_sanitize("address")))
/// 1 if poison_memory() has an effect: the build uses AddressSanitizer; otherwise 0.
#define KERNKIT_POISONS_MEMORY 1
#else
/// Empty: without AddressSanitizer no memory is poisoned.
#define KERNKIT_READS_POISONED_MEMORY
/// 1 if poison_memory() has an effect: the build uses AddressSanitizer; otherwise 0.
#define KERNKIT_POISONS_MEMORY 0
#endif

namespace kernkit::testing {

/// Makes AddressSanitizer report accesses to `size` bytes at `memory`; without AddressSanitizer, or
/// for 0 bytes, does nothing. AddressSanitizer records how many bytes are accessible from the start
/// of each 8 bytes (sanitizer/asan_interface.h): if the range ends between two multiples of 8 and
/// the next byte is accessible, the last bytes of the range, up to 7, stay accessible. Requires
/// that the caller owns the range, and unpoisons the range before freeing the memory. Throws
/// nothing.
inline void poison_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#if defined(KERNKIT_ASAN)
  __asan_poison_memory_region(memory, size);
#endif
}
/// Makes `size` bytes at `memory` accessible again, and up to 7 bytes before them if `memory` is
/// not a multiple of 8; without AddressSanitizer does nothing. Throws nothing.
inline void unpoison_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#if defined(KERNKIT_ASAN)
  __asan_unpoison_memory_region(memory, size);
#endif
}

}  // namespace kernkit::testing
