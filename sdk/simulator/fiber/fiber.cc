// SPDX-License-Identifier: Apache-2.0
#include "fiber/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

#if defined(KERNKIT_OWN_SWITCH)
// Saves the callee-saved registers of the System V ABI on the current stack and the stack pointer
// in *save, switches to the stack pointer `load`, and restores the registers from there.
extern "C" void kernkit_switch_stack(void** save, void* load);
asm(R"(
.text
.p2align 4
.local kernkit_switch_stack
.type kernkit_switch_stack, @function
kernkit_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kernkit_switch_stack, . - kernkit_switch_stack
)");
#endif

namespace kernkit::simulator {
namespace {

#if defined(KERNKIT_SIMULATOR_ASAN) || defined(KERNKIT_TSAN)
constexpr size_t kStackSize = size_t{256} * 1024;
#else
constexpr size_t kStackSize = size_t{64} * 1024;
#endif

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

#if defined(KERNKIT_OWN_SWITCH)
thread_local Fiber* starting = nullptr;
#endif

}  // namespace

Fiber::Fiber() {
  void* memory = mmap(nullptr, page_size() + kStackSize, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<unsigned char*>(memory);
  mprotect(memory_, page_size(), PROT_NONE);
}

Fiber::~Fiber() {
  unpoison_memory(memory_, page_size() + kStackSize);
#if defined(KERNKIT_TSAN)
  if (race_fiber_ != nullptr) __tsan_destroy_fiber(race_fiber_);
#endif
  munmap(memory_, page_size() + kStackSize);
}

void Fiber::start(Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  unsigned char* stack = memory_ + page_size();
#if defined(KERNKIT_SIMULATOR_ASAN)
  // In a finished fiber, only the frames of the outermost functions can still be poisoned.
  const size_t used = finished_ ? 4096 : kStackSize;
  unpoison_memory(stack + kStackSize - used, used);
  finished_ = false;
  fake_stack_ = nullptr;
#endif
#if defined(KERNKIT_TSAN)
  // Maps fresh memory over the stack, so that the race detector forgets the accesses of the fiber's
  // earlier users.
  (void)mmap(stack, kStackSize, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (race_fiber_ == nullptr) race_fiber_ = __tsan_create_fiber(0);
#endif
#if defined(KERNKIT_OWN_SWITCH)
  // The stack that kernkit_switch_stack() loads: six registers, the return address, and a null
  // pointer that ends backtraces.
  void* frame[8] = {
      nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, reinterpret_cast<void*>(&Fiber::first),
      nullptr};
  pointer_ = stack + kStackSize - sizeof(frame);
  std::memcpy(pointer_, frame, sizeof(frame));
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = kStackSize;
  context_.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(this);
  makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::first), 2,
              static_cast<unsigned>(uint64_t{address} >> 32), static_cast<unsigned>(address));
#endif
}

#if defined(KERNKIT_OWN_SWITCH)
void Fiber::first() { starting->run(); }
#else
void Fiber::first(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(static_cast<uintptr_t>(uint64_t{high} << 32 | low))->run();
}
#endif

void Fiber::run() {
  switch_in();
  entry_(argument_);
}

// Called on the fiber's stack after each switch to the fiber. switch_out() is called before each
// switch back.
void Fiber::switch_in() {
#if defined(KERNKIT_SIMULATOR_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack_, &resumer_bottom_, &resumer_size_);
#endif
}
void Fiber::switch_out() {
#if defined(KERNKIT_SIMULATOR_ASAN)
  __sanitizer_start_switch_fiber(&fake_stack_, resumer_bottom_, resumer_size_);
#endif
#if defined(KERNKIT_TSAN)
  __tsan_switch_to_fiber(race_resumer_, 1);  // flag 1: without synchronisation
#endif
}

void Fiber::resume() {
#if defined(KERNKIT_SIMULATOR_ASAN)
  __sanitizer_start_switch_fiber(&resumer_fake_stack_, memory_ + page_size(), kStackSize);
#endif
#if defined(KERNKIT_TSAN)
  race_resumer_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(race_fiber_, 1);
#endif
#if defined(KERNKIT_OWN_SWITCH)
  starting = this;
  kernkit_switch_stack(&pointer_, pointer_);
#else
  swapcontext(&resumer_, &context_);
#endif
#if defined(KERNKIT_SIMULATOR_ASAN)
  __sanitizer_finish_switch_fiber(resumer_fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
  switch_out();
#if defined(KERNKIT_OWN_SWITCH)
  kernkit_switch_stack(&pointer_, pointer_);
#else
  swapcontext(&context_, &resumer_);
#endif
  switch_in();
}

}  // namespace kernkit::simulator
