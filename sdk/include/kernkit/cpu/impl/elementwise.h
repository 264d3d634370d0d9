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
  bool prefetch;
  int64_t n;
  char* out;
  const char* in[kMaxInputs];

  size_t size_of_in(size_t k) const { return loops->sizes[1 + k]; }
  void drop(int64_t count) {
    n -= count;
    out += static_cast<size_t>(count) * loops->sizes[0];
    for (size_t k = 0; k < loops->inputs; ++k) in[k] += static_cast<size_t>(count) * size_of_in(k);
  }
  void run(int64_t count, void* to, const void* const* from) const {
    loop(op, count, prefetch, to, from);
  }
  const void* const* inputs() const { return reinterpret_cast<const void* const*>(in); }
};

// Fewer elements than a block, in a block whose rest repeats the first one: an op sees only what is
// there.
KERNKIT_COLD void run_part(const Work& work, int64_t count) {
  alignas(64) unsigned char blocks[kMaxInputs + 1][kBlock * kMaxSize];
  const void* in[kMaxInputs];
  for (size_t k = 0; k < work.loops->inputs; ++k) {
    const size_t size = work.size_of_in(k);
    memcpy(blocks[k], work.in[k], static_cast<size_t>(count) * size);
    size_t filled = static_cast<size_t>(count) * size;
    while (filled < kBlock * size) {
      const size_t rest = kBlock * size - filled;
      const size_t more = filled < rest ? filled : rest;  // whole elements
      memcpy(blocks[k] + filled, blocks[k], more);
      filled += more;
    }
    in[k] = blocks[k];
  }
  work.run(kBlock, blocks[kMaxInputs], in);
  memcpy(work.out, blocks[kMaxInputs], static_cast<size_t>(count) * work.loops->sizes[0]);
}

KERNKIT_COLD void run_all(Work& work) {
  const int64_t whole = work.n & -int64_t{kBlock};
  work.run(whole, work.out, work.inputs());
  if (whole == work.n) return;
  work.drop(whole);
  run_part(work, work.n);
}

// Copies a multiple of 64 bytes between aligned addresses, past the caches. SSE2's stores, which
// every x86-64 has: wider ones are not faster. Assembly, since compilers differ in the builtin's
// name and the header that hides it is slow to compile.
KERNKIT_COLD void copy_past_caches(void* to, const void* from, size_t bytes) {
#if defined(__x86_64__)
  using Vector = long long __attribute__((vector_size(16), may_alias));
  auto* out = static_cast<Vector*>(to);
  auto* in = static_cast<const Vector*>(from);
  for (size_t i = 0; i < bytes / sizeof(Vector); i += 4) {
    asm volatile("movntdq %1, %0" : "=m"(out[i]) : "x"(in[i]));
    asm volatile("movntdq %1, %0" : "=m"(out[i + 1]) : "x"(in[i + 1]));
    asm volatile("movntdq %1, %0" : "=m"(out[i + 2]) : "x"(in[i + 2]));
    asm volatile("movntdq %1, %0" : "=m"(out[i + 3]) : "x"(in[i + 3]));
  }
#else
  memcpy(to, from, bytes);
#endif
}

// Computed in the first-level cache, copied from there: as fast as streaming each register
// (measured), and any loop will do.
KERNKIT_COLD void run_streaming(Work& work) {
  if (work.n < kBlock) return run_all(work);  // it may end before the first whole line
  alignas(64) unsigned char chunk[1024];
  const size_t size = work.loops->sizes[0];
  const auto per_chunk = static_cast<int64_t>(sizeof(chunk) / size);
  const size_t before = (64 - reinterpret_cast<uintptr_t>(work.out) % 64) % 64 / size;
  if (before != 0) {
    run_part(work, static_cast<int64_t>(before));
    work.drop(static_cast<int64_t>(before));
  }
  for (; work.n >= per_chunk; work.drop(per_chunk)) {
    work.run(per_chunk, chunk, work.inputs());
    // What comes next is fetched while the stores leave.
    for (size_t k = 0; k < work.loops->inputs && work.n >= 2 * per_chunk; ++k) {
      const size_t bytes = static_cast<size_t>(per_chunk) * work.size_of_in(k);
      for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(work.in[k] + bytes + i);
    }
    copy_past_caches(work.out, chunk, sizeof(chunk));
  }
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");  // other threads see what was streamed
#endif
  run_all(work);
}

// Bytes of all arrays together that a thread takes at a time: some 10 to 30 us.
inline constexpr size_t kPieceBytes = size_t{256} << 10;

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
  const bool prefetch = bytes >= here.prefetch_bytes;
  // In place, the lines to be written are in the cache already: there is nothing to save.
  const bool streaming = bytes >= here.streaming_bytes && !in_place && kMaxSize % out_size == 0 &&
                         reinterpret_cast<uintptr_t>(out) % out_size == 0;
  const bool threading = bytes >= here.threading_bytes;
  if (!streaming && !threading && n % kBlock == 0) return loop(op, n, prefetch, out, in);

  Work work;
  work.loop = loop;
  work.loops = &loops;
  work.op = op;
  work.prefetch = prefetch;
  work.n = n;
  work.out = static_cast<char*>(out);
  for (size_t k = 0; k < loops.inputs; ++k) work.in[k] = static_cast<const char*>(in[k]);
  const auto run = streaming ? run_streaming : run_all;
  if (!threading) return run(work);
  const int64_t grain = static_cast<int64_t>(kPieceBytes / per_element) & -int64_t{kBlock};
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    Work piece = work;
    piece.drop(begin);
    piece.n = end - begin;
    run(piece);
  });
}

}  // namespace kernkit::cpu::detail
