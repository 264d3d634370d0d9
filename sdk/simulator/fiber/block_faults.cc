// SPDX-License-Identifier: Apache-2.0
// Reports about a block that cannot continue.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fiber/block.h"

namespace kernkit::simulator {
std::string Block::location_text(const CudaThread& thread) const {
  return grid_.location_text(index_) + ", thread " + index_text(thread.index);
}

void Block::reject(const std::string& sentence, cudaError_t error) {
  grid_.fail(location_text(*running_) + ": " + sentence, error);
}

void Block::halt() {
  const RaceObserved suspended;  // the race detector must observe the fiber's next thread
  for (;;) running_->fiber->suspend();
}

std::string Block::deadlock() const {
  static constexpr CudaThread kNone = {};
  unsigned waiting = 0;
  const CudaThread* first = &kNone;
  const CudaThread* other = &kNone;  // first thread that waits at a different function
  for (const CudaThread& thread : threads_) {
    if (thread.ended) continue;
    if (first->waits_at == nullptr) first = &thread;
    if (std::strcmp(thread.waits_at, first->waits_at) == 0) ++waiting;
  }
  if (first->waits_at == nullptr) return "no thread of the block waits";
  for (const CudaThread& thread : threads_) {
    if (thread.ended || std::strcmp(thread.waits_at, first->waits_at) == 0) continue;
    other = &thread;
    break;
  }
  return location_text(*first) + ": " + std::to_string(waiting) + " of the block's " +
         std::to_string(size_) + " threads wait at " + first->waits_at + "()" +
         (other == &kNone
              ? std::string(", and no thread can continue")
              : " and thread " + index_text(other->index) + " waits at " + other->waits_at + "()");
}

}  // namespace kernkit::simulator

// Replaces the function of the C library that a failed assert() calls. In a kernel, ends the kernel
// with a fault.
extern "C" __attribute__((noreturn)) void __assert_fail(const char* condition, const char* file,
                                                        unsigned line,
                                                        const char* function) noexcept {
  kernkit::simulator::Block* block = kernkit::simulator::this_block();
  if (block == nullptr) {
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
    std::abort();
  }
  const kernkit::simulator::RaceIgnored bookkeeping;
  const char* name = std::strrchr(file, '/');
  block->reject("assert(" + std::string(condition) + ") failed, " +
                    (name != nullptr ? name + 1 : file) + ":" + std::to_string(line),
                cudaErrorAssert);
  block->halt();
}
