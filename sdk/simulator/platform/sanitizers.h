// SPDX-License-Identifier: Apache-2.0
// The sanitizers of this build, and their interface for code that switches stacks.
#pragma once

#include <cstddef>

#include "hooks.h"

#if defined(__SANITIZE_THREAD__) || defined(KERNKIT_SIMULATOR_TSAN)
#define KERNKIT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KERNKIT_TSAN 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KERNKIT_SIMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERNKIT_SIMULATOR_ASAN 1
#endif
#endif

// Source of the declarations: sanitizer/asan_interface.h, common_interface_defs.h,
// tsan_interface.h.
#if defined(KERNKIT_SIMULATOR_ASAN)
#define KERNKIT_SIMULATOR_NO_ASAN __attribute__((no_sanitize("address")))
extern "C" {
void __asan_poison_memory_region(const volatile void* memory, size_t size);
void __asan_unpoison_memory_region(const volatile void* memory, size_t size);
void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, size_t* size);
}
#else
#define KERNKIT_SIMULATOR_NO_ASAN
#endif
#if defined(KERNKIT_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace kernkit::simulator {

/// Makes AddressSanitizer report accesses to `size` bytes at `memory`, until unpoison_memory().
/// AddressSanitizer records how many first bytes of each 8 bytes are accessible: if poisoned memory
/// ends between two multiples of 8, up to 7 bytes before its end remain accessible.
inline void poison_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#if defined(KERNKIT_SIMULATOR_ASAN)
  __asan_poison_memory_region(memory, size);
#endif
}
inline void unpoison_memory([[maybe_unused]] const void* memory, [[maybe_unused]] size_t size) {
#if defined(KERNKIT_SIMULATOR_ASAN)
  __asan_unpoison_memory_region(memory, size);
#endif
}

#if defined(KERNKIT_TSAN)
inline constexpr bool kRaceDetector = true;
/// Orders work for the race detector: work before race_release(address) happened before work after
/// a later race_acquire(address).
inline void race_acquire(void* address) { __tsan_acquire(address); }
inline void race_release(void* address) { __tsan_release(address); }
/// Called when the object at an address is destroyed. Does nothing, because ThreadSanitizer resets
/// freed memory itself.
inline void race_forget(void*) {}
inline void race_ignore(bool ignore) {
  (ignore ? AnnotateIgnoreReadsBegin : AnnotateIgnoreReadsEnd)("", 0);
  (ignore ? AnnotateIgnoreWritesBegin : AnnotateIgnoreWritesEnd)("", 0);
}
/// Makes the race detector ignore accesses of this thread or fiber during the object's lifetime,
/// for code of the runtime.
struct RaceIgnored {
  RaceIgnored() { race_ignore(true); }
  ~RaceIgnored() { race_ignore(false); }
};
/// Suspends RaceIgnored during the object's lifetime: the race detector observes accesses again.
/// Used for accesses of a device, such as copies.
struct RaceObserved {
  RaceObserved() { race_ignore(false); }
  ~RaceObserved() { race_ignore(true); }
};
/// Makes the race detector treat the code during the object's lifetime as a new thread, and ignore
/// its accesses. Earlier work of the creating thread happened before the new thread's work.
class RaceContext {
 public:
  RaceContext() : caller_(__tsan_get_current_fiber()), fiber_(__tsan_create_fiber(0)) {
    __tsan_switch_to_fiber(fiber_, 1);  // flag 1: without synchronisation
    race_ignore(true);
  }
  ~RaceContext() {
    race_ignore(false);
    __tsan_switch_to_fiber(caller_, 1);
    __tsan_destroy_fiber(fiber_);
  }
  RaceContext(const RaceContext&) = delete;
  RaceContext& operator=(const RaceContext&) = delete;

 private:
  void* caller_;
  void* fiber_;
};
#else
inline constexpr bool kRaceDetector = false;
inline void race_acquire(void* address) { runtime_hooks.order(OrderStep::kAcquire, address); }
inline void race_release(void* address) { runtime_hooks.order(OrderStep::kRelease, address); }
inline void race_forget(void* address) { runtime_hooks.order(OrderStep::kForget, address); }
struct RaceIgnored {
  RaceIgnored() {}  // user-provided, to avoid warnings about unused variables
};
using RaceObserved = RaceIgnored;
struct RaceContext {
  RaceContext() { runtime_hooks.order(OrderStep::kEnters, nullptr); }
  ~RaceContext() { runtime_hooks.order(OrderStep::kLeaves, nullptr); }
};
#endif

/// Makes the first `size` of `capacity` bytes accessible to the program under AddressSanitizer, and
/// poisons the following bytes.
inline void limit_allocation(void* memory, size_t size, size_t capacity) {
  unpoison_memory(memory, size);
  poison_memory(static_cast<char*>(memory) + size, capacity - size);
}

}  // namespace kernkit::simulator
