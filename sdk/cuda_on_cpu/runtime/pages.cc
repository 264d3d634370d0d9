// SPDX-License-Identifier: Apache-2.0
// The memory behind allocations: of the C library, filled with the poison, or pages that exist when
// they are touched.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "process/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::cuda_on_cpu {
namespace {

size_t round_up(size_t size, size_t to) { return (size + to - 1) / to * to; }

// With a page before and behind it that nobody may touch.
size_t page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Behind the last byte. Not more is told to AddressSanitizer, which writes a byte for each eight.
size_t rest_of_page(size_t size) { return round_up(size, page()) - size; }

void* take_pages(size_t size) {
  const size_t whole = round_up(size, page()) + 2 * page();
  void* memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* first = static_cast<char*>(memory);
  mprotect(first, page(), PROT_NONE);
  mprotect(first + whole - page(), page(), PROT_NONE);
  close_memory(first + page() + size, rest_of_page(size));
  return first + page();
}

}  // namespace

void* take_memory(const Allocation& allocation) {
  if (allocation.sparse) return take_pages(allocation.size);
  const size_t whole = round_up(allocation.size, 256);
  void* memory = std::aligned_alloc(256, whole);
  if (memory == nullptr) return nullptr;
  std::memset(memory, state().settings.poison, allocation.size);
  limit_allocation(memory, allocation.type == cudaMemoryTypeDevice ? 0 : allocation.size, whole);
  return memory;
}

void give_back_memory(void* memory, const Allocation& allocation) {
  tell_memory(MemoryStep::kFreed, memory, allocation.size, nullptr);
  if (allocation.registered) return;
  if (allocation.sparse) {
    open_memory(static_cast<char*>(memory) + allocation.size, rest_of_page(allocation.size));
    munmap(static_cast<char*>(memory) - page(), round_up(allocation.size, page()) + 2 * page());
    return;
  }
  const size_t whole = round_up(allocation.size, 256);
  limit_allocation(memory, whole, whole);
  std::free(memory);
}

const Allocation* allocation_of(const void* address) {
  auto found = state().allocations.upper_bound(const_cast<void*>(address));
  if (found == state().allocations.begin()) return nullptr;
  --found;
  const auto* end = static_cast<const char*>(found->first) + found->second.size;
  return static_cast<const char*>(address) < end ? &found->second : nullptr;
}

}  // namespace kernkit::cuda_on_cpu
