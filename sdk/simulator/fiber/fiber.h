// SPDX-License-Identifier: Apache-2.0
// Fiber: a function on its own stack, which runs until it suspends itself.
#pragma once

#include <cstddef>

#include "platform/sanitizers.h"
// Builds for processors other than x86-64, or with KERNKIT_SIMULATOR_UCONTEXT, use ucontext, which
// makes a system call in each switch.
#if defined(__x86_64__) && !defined(KERNKIT_SIMULATOR_UCONTEXT)
#define KERNKIT_OWN_SWITCH 1
#endif
#if !defined(KERNKIT_OWN_SWITCH)
#include <ucontext.h>
#endif

namespace kernkit::simulator {

/// Runs `entry(argument)` on its own stack. A fiber must be resumed and suspended on one OS thread.
/// Destroying or restarting an unfinished fiber abandons its stack without running destructors.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes the next resume() begin at `entry`, which must never return.
  void start(Entry entry, void* argument);
  /// Runs the fiber until it suspends itself.
  void resume();
  /// Called on the fiber: suspends the fiber, and resume() returns.
  void suspend();

  /// Called by the fiber's outermost function after all functions that it called have returned.
  void finish() { finished_ = true; }

  Fiber* next = nullptr;  // next fiber in the owner's list

 private:
#if defined(KERNKIT_OWN_SWITCH)
  static void first();
#else
  static void first(unsigned high, unsigned low);
#endif
  void run();
  void switch_in();
  void switch_out();

  bool finished_ = false;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  unsigned char* memory_ = nullptr;  // guard page, followed by the stack
#if defined(KERNKIT_OWN_SWITCH)
  void* pointer_ = nullptr;  // stack pointer of the fiber or, while the fiber runs, of its resumer
#else
  ucontext_t context_;
  ucontext_t resumer_;
#endif
#if defined(KERNKIT_SIMULATOR_ASAN)
  void* fake_stack_ = nullptr;
  void* resumer_fake_stack_ = nullptr;
  const void* resumer_bottom_ = nullptr;
  size_t resumer_size_ = 0;
#endif
#if defined(KERNKIT_TSAN)
  void* race_fiber_ = nullptr;
  void* race_resumer_ = nullptr;
#endif
};

}  // namespace kernkit::simulator
