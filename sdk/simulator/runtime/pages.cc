// SPDX-License-Identifier: Apache-2.0
// The memory of allocations, at reserved addresses. New memory is filled with the poison; pages of
// a sparse allocation only exist once they are touched. Sanitizers use memory of the C library.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "platform/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::simulator {
namespace {

size_t round_up(size_t size, size_t to) { return (size + to - 1) / to * to; }

// Returns the page size [bytes]. Each sparse allocation is between two inaccessible pages.
size_t page() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Returns the number of bytes from the end of a sparse allocation to the end of its last page. Only
// these bytes of a sparse allocation are poisoned: poisoning needs one byte of AddressSanitizer's
// shadow memory for every eight bytes.
size_t rest_of_page(size_t size) { return round_up(size, page()) - size; }

#if defined(KERNKIT_SIMULATOR_ASAN) || defined(KERNKIT_TSAN)
constexpr bool kReserves = false;  // sanitizers track only the C library's allocations
#else
constexpr bool kReserves = true;
#endif
constexpr size_t kSmallGrain = 256;              // granularity of small allocations [bytes]
constexpr size_t kSmallBytes = size_t{1} << 40;  // range of addresses for small allocations [bytes]
constexpr size_t kLargeBytes = size_t{1} << 43;  // range of addresses for large allocations [bytes]
constexpr size_t kLarge = 1 << 16;               // smallest large allocation [bytes]
constexpr size_t kLeastReleased = 1 << 25;  // smallest freed range whose pages are released [bytes]
constexpr size_t kOpened = size_t{1} << 26;  // granularity of making memory accessible [bytes]

/// An address range that is reserved for allocations, and not used for other memory of the process.
/// The operating system allocates a page when the page is first touched.
class ReservedMemory {
 public:
  // Reserves up to `most` bytes; nothing if less than 1 GiB of address space is available.
  ReservedMemory(size_t most, size_t grain) : grain_(grain) {
    for (size_t size = kReserves ? most : 0; size >= size_t{1} << 30; size /= 4) {
      void* memory =
          mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) continue;
      begin_ = fresh_ = opened_ = static_cast<char*>(memory);
      end_ = begin_ + size;
      return;
    }
  }
  bool holds(const void* address) const { return address >= begin_ && address < end_; }
  /// Returns the address of `size` bytes; null if no memory is left. `size` must be a multiple of
  /// the grain.
  char* take(size_t size) {
    const auto fitting = by_size_.lower_bound({size, nullptr});
    if (fitting == by_size_.end()) return take_fresh(size);
    const auto [free_bytes, memory] = *fitting;
    remove(memory, free_bytes);
    if (free_bytes > size) add(memory + size, free_bytes - size);
    return memory;
  }
  void give_back(char* memory, size_t size) {
    if (size >= kLeastReleased) madvise(memory, size, MADV_DONTNEED);
    const auto next = by_address_.lower_bound(memory);
    if (next != by_address_.begin()) {
      const auto [before, bytes] = *std::prev(next);
      if (before + bytes == memory) {
        remove(before, bytes);
        memory = before;
        size += bytes;
      }
    }
    const auto after = by_address_.find(memory + size);
    if (after != by_address_.end()) {
      const size_t bytes = after->second;
      remove(memory + size, bytes);
      size += bytes;
    }
    add(memory, size);
  }
  size_t grain() const { return grain_; }

 private:
  char* take_fresh(size_t size) {
    if (size > static_cast<size_t>(end_ - fresh_)) return nullptr;
    char* memory = fresh_;
    if (memory + size > opened_) {
      const size_t needed = round_up(static_cast<size_t>(memory + size - opened_), kOpened);
      const size_t bytes = std::min(needed, static_cast<size_t>(end_ - opened_));
      if (mprotect(opened_, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
      opened_ += bytes;
    }
    fresh_ += size;
    return memory;
  }
  void add(char* memory, size_t size) {
    by_address_[memory] = size;
    by_size_.insert({size, memory});
  }
  void remove(char* memory, size_t size) {
    by_address_.erase(memory);
    by_size_.erase({size, memory});
  }

  size_t grain_;  // granularity of allocations [bytes]
  char *begin_ = nullptr, *end_ = nullptr;
  char* fresh_ = nullptr;               // first address that was never allocated
  char* opened_ = nullptr;              // end of accessible memory
  std::map<char*, size_t> by_address_;  // sizes of free ranges by address [bytes]
  std::set<std::pair<size_t, char*>> by_size_;
};

ReservedMemory& reserved(bool large) {
  static auto& small_ones = *new ReservedMemory(kSmallBytes, kSmallGrain);
  static auto& large_ones = *new ReservedMemory(kLargeBytes, page());
  return large ? large_ones : small_ones;
}

// Returns the size of an allocation with a gap after the last byte, so that an access just past the
// end is in no other allocation.
size_t with_gap(size_t size, size_t grain) { return round_up(size, grain) + grain; }

void* take_pages(size_t size) {
  const size_t padded = round_up(size, page()) + 2 * page();
  void* memory = reserved(true).take(padded);
  if (memory == nullptr) {
    memory = mmap(nullptr, padded, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
  }
  auto* first = static_cast<char*>(memory);
  mprotect(first, page(), PROT_NONE);
  mprotect(first + padded - page(), page(), PROT_NONE);
  poison_memory(first + page() + size, rest_of_page(size));
  return first + page();
}

void give_back_pages(char* memory, size_t size) {
  const size_t padded = round_up(size, page()) + 2 * page();
  char* first = memory - page();
  unpoison_memory(memory + size, rest_of_page(size));
  if (!is_reserved(memory)) {
    munmap(first, padded);
    return;
  }
  mprotect(first, page(), PROT_READ | PROT_WRITE);
  mprotect(first + padded - page(), page(), PROT_READ | PROT_WRITE);
  reserved(true).give_back(first, padded);
}

// Removes the records of freed memory that overlaps a range. Called when the range is allocated
// again.
void remove_freed(char* memory, size_t size) {
  auto& all = state().freed;
  auto first = all.lower_bound(memory);
  if (first != all.begin()) {
    const auto before = std::prev(first);
    if (static_cast<char*>(before->first) + before->second.size > memory) first = before;
  }
  while (first != all.end() && first->first < memory + size) first = all.erase(first);
}

void* take_memory_of(const Allocation& allocation) {
  if (allocation.sparse) return take_pages(allocation.size);
  ReservedMemory& addresses = reserved(allocation.size >= kLarge);
  void* memory = addresses.take(with_gap(allocation.size, addresses.grain()));
  const size_t padded = round_up(allocation.size, 256);
  if (memory == nullptr) memory = std::aligned_alloc(256, padded);
  if (memory == nullptr) return nullptr;
  std::memset(memory, state().settings.poison, allocation.size);
  limit_allocation(memory, allocation.type == cudaMemoryTypeDevice ? 0 : allocation.size, padded);
  return memory;
}

}  // namespace

bool is_reserved(const void* address) {
  return reserved(false).holds(address) || reserved(true).holds(address);
}

void* take_memory(const Allocation& allocation) {
  void* memory = take_memory_of(allocation);
  if (memory != nullptr) remove_freed(static_cast<char*>(memory), allocation.size);
  return memory;
}

void give_back_memory(void* memory, const Allocation& allocation) {
  constexpr size_t kMostRecords = 4096;
  runtime_hooks.memory(MemoryStep::kFreed, memory, allocation.size, nullptr);
  if (allocation.registered) return;
  state().freed[memory] = {allocation.size, allocation.allocated_by, allocation.freed_by};
  if (state().freed.size() > kMostRecords) state().freed.erase(state().freed.begin());
  if (allocation.sparse) return give_back_pages(static_cast<char*>(memory), allocation.size);
  const size_t padded = round_up(allocation.size, 256);
  limit_allocation(memory, padded, padded);
  if (!is_reserved(memory)) return std::free(memory);
  ReservedMemory& addresses = reserved(allocation.size >= kLarge);
  addresses.give_back(static_cast<char*>(memory), with_gap(allocation.size, addresses.grain()));
}

const Allocation* allocation_of(const void* address) {
  auto position = state().allocations.upper_bound(const_cast<void*>(address));
  if (position == state().allocations.begin()) return nullptr;
  --position;
  const auto* end = static_cast<const char*>(position->first) + position->second.size;
  return static_cast<const char*>(address) < end ? &position->second : nullptr;
}

}  // namespace kernkit::simulator
