// SPDX-License-Identifier: Apache-2.0
// Which loop runs, over what is no whole block as well, and whether its results go past the caches.
#pragma once

#include "kernkit/cpu/elementwise.h"
#include "kernkit/cpu/parallel.h"

namespace kernkit::cpu::detail {

// A loop with its arrays, or a piece of them.
struct Work {
  Loop loop;
  const Loops* loops;
  const void* op;
  unsigned ways;
  int64_t n;
  char* out;
  const char* in[kMaxInputs];

  void drop(int64_t count) {
    n -= count;
    out += static_cast<size_t>(count) * loops->sizes[0];
    for (size_t k = 0; k < loops->inputs; ++k)
      in[k] += static_cast<size_t>(count) * loops->sizes[1 + k];
  }
  const void* const* inputs() const { return reinterpret_cast<const void* const*>(in); }
};

// Fewer elements than a block, in a block whose rest repeats the first one: an op sees only what is
// there.
KERNKIT_COLD void run_part(Work& work, int64_t count) {
  if (count == 0) return;
  alignas(64) unsigned char blocks[kMaxInputs + 1][kBlock * kMaxSize];
  const void* in[kMaxInputs];
  for (size_t k = 0; k < work.loops->inputs; ++k) {
    const size_t size = work.loops->sizes[1 + k];
    memcpy(blocks[k], work.in[k], static_cast<size_t>(count) * size);
    for (size_t filled = static_cast<size_t>(count) * size; filled < kBlock * size; filled *= 2) {
      const size_t rest = kBlock * size - filled;
      memcpy(blocks[k] + filled, blocks[k], filled < rest ? filled : rest);  // whole elements
    }
    in[k] = blocks[k];
  }
  work.loop(work.op, kBlock, 0, blocks[kMaxInputs], in);
  memcpy(work.out, blocks[kMaxInputs], static_cast<size_t>(count) * work.loops->sizes[0]);
  work.drop(count);
}

KERNKIT_COLD void run_all(Work& work) {
  const bool past_caches = (work.ways & kPastCaches) != 0;
  if (past_caches) {  // from the start of a line, which a part may not reach
    const size_t before = (64 - reinterpret_cast<uintptr_t>(work.out) % 64) % 64;
    const auto count = static_cast<int64_t>(before / work.loops->sizes[0]);
    run_part(work, count < work.n ? count : work.n);
  }
  const int64_t whole = work.n & -int64_t{kBlock};
  work.loop(work.op, whole, work.ways, work.out, work.inputs());
#if defined(__x86_64__)
  if (past_caches) asm volatile("sfence" ::: "memory");  // other threads see what went there
#endif
  work.drop(whole);
  run_part(work, work.n);
}

KERNKIT_COLD void run_loop(const Loops& loops, int64_t n, const void* op, void* out,
                           const void* const* in) {
  const Machine& here = machine();
  const Loop loop = loops.by_set[static_cast<int>(here.instruction_set)];
  const size_t out_size = loops.sizes[0];
  size_t per_element = out_size;  // bytes of all arrays
  bool in_place = false;
  for (size_t k = 0; k < loops.inputs; ++k) {
    per_element += loops.sizes[1 + k];
    in_place |= in[k] == out;
  }
  const size_t bytes = per_element * static_cast<size_t>(n);  // fits, for the arrays are there
  // In place, the lines to be written are in the cache already: there is nothing to save.
  const bool streaming = bytes >= here.streaming_bytes && !in_place && kMaxSize % out_size == 0 &&
                         reinterpret_cast<uintptr_t>(out) % out_size == 0;
  const unsigned asking = bytes >= here.asking_bytes ? here.asking : 0;
  const unsigned ways = streaming ? here.streaming : asking;
  const bool threading = bytes >= here.threading_bytes;
  if ((ways & kPastCaches) == 0 && !threading && n % kBlock == 0) return loop(op, n, ways, out, in);

  Work work{loop, &loops, op, ways, n, static_cast<char*>(out), {}};
  for (size_t k = 0; k < loops.inputs; ++k) work.in[k] = static_cast<const char*>(in[k]);
  if (!threading) return run_all(work);
  const int64_t grain = static_cast<int64_t>(kPieceBytes / per_element) & -int64_t{kBlock};
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    Work piece = work;
    piece.drop(begin);
    piece.n = end - begin;
    run_all(piece);
  });
}

}  // namespace kernkit::cpu::detail
