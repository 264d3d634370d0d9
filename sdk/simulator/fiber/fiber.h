// SPDX-License-Identifier: Apache-2.0
// Fiber: a stack of its own and what runs on it, until it suspends itself.
#pragma once

#include <cstddef>

#include "platform/sanitizers.h"
// Elsewhere, and where a test wants it, ucontext, which makes two system calls a switch.
#if defined(__x86_64__) && !defined(KERNKIT_SIMULATOR_UCONTEXT)
#define KERNKIT_OWN_SWITCH 1
#endif
#if !defined(KERNKIT_OWN_SWITCH)
#include <ucontext.h>
#endif

namespace kernkit::simulator {

/// Runs `entry(argument)` on a stack of its own. Resumed and suspended on one OS thread only. What
/// was not finished when it is destroyed or started again is forgotten: no destructor runs.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Lets the next resume() begin at `entry`, which must never return.
  void start(Entry entry, void* argument);
  /// Runs the fiber until it suspends itself.
  void resume();
  /// Called on the fiber: returns from the resume() that it runs under.
  void suspend();

  /// Called on the fiber's outermost function: what ran on it has ended.
  void finish() { finished_ = true; }

  Fiber* next = nullptr;  // of a list that its owner keeps

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
  unsigned char* memory_ = nullptr;  // an inaccessible page, then the stack
#if defined(KERNKIT_OWN_SWITCH)
  void* pointer_ = nullptr;  // of the stack that does not run: the fiber's or its resumer's
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
