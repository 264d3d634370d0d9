// SPDX-License-Identifier: Apache-2.0
// How the arrays of a loop come from memory and go there: asked for ahead of time, past the caches.
#pragma once

#include <string.h>

#include "kernkit/cpu/vectorised.h"

namespace kernkit::cpu::detail {

// The lines of a block; of one to be written as well, which no processor's own prefetch does.
template <class T>
KERNKIT_INLINE void ask_for_input(const T* in, int64_t ahead) {
  asm("" : "+r"(in));
  const char* const first = reinterpret_cast<const char*>(in) + ahead;
  for (unsigned line = 0; line < kBlock * sizeof(T); line += 64) __builtin_prefetch(first + line);
}
template <class T>
KERNKIT_INLINE void ask_for_output(T* out, int64_t ahead) {
  char* const first = reinterpret_cast<char*>(out) + ahead;
  for (unsigned line = 0; line < kBlock * sizeof(T); line += 64) {
#if KERNKIT_INSTRUCTION_SETS > 1
    asm volatile("prefetchw %0" : : "m"(first[line]));
#else
    __builtin_prefetch(first + line, 1);
#endif
  }
}

template <int kCount>
struct __attribute__((may_alias)) Bytes {
  unsigned char at[kCount];
};

// One line, past the caches, from anywhere. By hand, since compilers differ in the builtin's name,
// the header that hides it is slow to compile, and no function's target must be named. On an EPYC
// of family 25, model 1, stores of 32 bytes are 1.0 to 1.5 times as fast as those of 16; not so on
// model 17.
template <bool kAvx>
KERNKIT_INLINE void stream_line(void* to, const void* from) {
#if !defined(__x86_64__)
  memcpy(to, from, 64);
#else
  if constexpr (kAvx) {
    auto* const out = static_cast<Bytes<32>*>(to);
    auto* const in = static_cast<const Bytes<32>*>(from);
    asm volatile(
        "vmovdqu %2, %%ymm0\n\tvmovdqu %3, %%ymm1\n\t"
        "vmovntdq %%ymm0, %0\n\tvmovntdq %%ymm1, %1"
        : "=m"(out[0]), "=m"(out[1])
        : "m"(in[0]), "m"(in[1])
        : "xmm0", "xmm1");
  } else {
    auto* const out = static_cast<Bytes<16>*>(to);
    auto* const in = static_cast<const Bytes<16>*>(from);
    for (int i = 0; i < 4; ++i) {
      asm volatile("movdqu %1, %%xmm0\n\tmovntdq %%xmm0, %0" : "=m"(out[i]) : "m"(in[i]) : "xmm0");
    }
  }
#endif
}

/// Where a loop puts each block of results that goes past the caches: it streams from here at once.
/// (Stages of several blocks leave long gaps between the stores, and were at 0.5 to 0.7 of the best
/// copy on an EPYC of family 25, model 17.) So a loop is there once for all ways, with equal bits.
template <class Out>
struct alignas(64) Stage {
  unsigned char bytes[kBlock * sizeof(Out)];
};

/// After the last stores of a loop that streams: other threads see what went past the caches.
KERNKIT_INLINE void end_streaming() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#endif
}

/// The block that follows `done` elements in a loop over n. By pages, four pages of the output take
/// turns: memory has more banks at work, and the prefetchers of a processor follow each page.
template <class Out>
KERNKIT_INLINE int64_t next_block(unsigned ways, int64_t done, int64_t n) {
  constexpr int64_t kPage = 4096 / sizeof(Out), kPages = 4;
  if ((ways & kByPages) == 0 || done >= (n & -(kPages * kPage))) return done;
  const int64_t in_pages = done & (kPages * kPage - 1), turn = in_pages / kBlock;
  return done - in_pages + turn % kPages * kPage + turn / kPages * kBlock;
}

/// What a loop with `ways` does after it has made the block that belongs at `out` of `in`. It asks
/// for bytes so far after the next block: 1024 of inputs and 512 of the output, from Cascade Lake;
/// 3072 while streaming, where on an EPYC of family 25, model 1, 1024 was at 0.85 to 1.0 of it,
/// 2048 at 0.95 to 1.0, 4096 at 0.9; 256 by pages, where on an Intel Xeon of family 6, model 167,
/// nothing was at 0.95 to 1.0 of it, 1024 at 0.8 to 1.0.
template <bool kAvx, class Out, class... In>
KERNKIT_INLINE void move_block(unsigned ways, const Stage<Out>& stage, Out* out, const In*... in) {
  // Hidden from the compiler, which would prepare all this before the loop, also for no ways.
  asm("" : "+r"(ways), "+r"(out));
  [[maybe_unused]] int64_t ahead = 1024;
  if ((ways & kPastCaches) != 0) {
    ahead = (ways & kByPages) != 0 ? 256 : 3072;
    auto* const to = reinterpret_cast<unsigned char*>(out);
    KERNKIT_UNROLLED
    for (unsigned i = 0; i < sizeof(stage); i += 64) stream_line<kAvx>(to + i, stage.bytes + i);
  }
  if ((ways & kAskForInputs) != 0) (ask_for_input(in + kBlock, ahead), ...);
  if ((ways & kAskForOutput) != 0) ask_for_output(out + kBlock, 512);
}

/// Ends the block at element `i` of a loop over `n` elements, of which `done` are made now. Returns
/// the first element of the next block.
template <bool kAvx, class Out, class... In>
KERNKIT_INLINE int64_t end_block(unsigned ways, const Stage<Out>& stage, int64_t i, int64_t done,
                                 int64_t n, Out* out, const In*... in) {
  if (ways != 0) {
    move_block<kAvx>(ways, stage, out + i, in + i...);
    return next_block<Out>(ways, done, n);
  }
  return done;
}

}  // namespace kernkit::cpu::detail
