// SPDX-License-Identifier: Apache-2.0
// Functions that sanitizers call for a report; the functions print kernel, block and thread.
#include <cstddef>
#include <cstdio>

#include "fiber/block.h"

namespace {

size_t races = 0;

void print_position() {
  const kernkit::simulator::Block* block = kernkit::simulator::this_block();
  if (block == nullptr || block->running() == nullptr) return;
  std::fprintf(stderr, "kernkit: in kernel %s\n", block->location_text(*block->running()).c_str());
}

}  // namespace

extern "C" {
void __asan_on_error() { print_position(); }
void __tsan_on_report(void*) {
  ++races;
  print_position();
}
// Makes ThreadSanitizer report every race, even if an earlier race had the same address or stack.
__attribute__((weak)) const char* __tsan_default_options() {
  return "suppress_equal_addresses=0:suppress_equal_stacks=0:history_size=4";
}
void __ubsan_on_report() { print_position(); }

// These hooks are empty because volatile accesses are relaxed atomics, which do not race (PTX ISA,
// ld.volatile and st.volatile).
#define KERNKIT_VOLATILE(size)                        \
  void __tsan_volatile_read##size(void*) {}           \
  void __tsan_volatile_write##size(void*) {}          \
  void __tsan_unaligned_volatile_read##size(void*) {} \
  void __tsan_unaligned_volatile_write##size(void*) {}
KERNKIT_VOLATILE(1)
KERNKIT_VOLATILE(2)
KERNKIT_VOLATILE(4)
KERNKIT_VOLATILE(8)
KERNKIT_VOLATILE(16)
#undef KERNKIT_VOLATILE
}

namespace kernkit::simulator {
size_t reported_races() { return races; }
}  // namespace kernkit::simulator
