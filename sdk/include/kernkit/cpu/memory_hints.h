// SPDX-License-Identifier: Apache-2.0
// Memory access of a loop by MemoryHint: prefetches and non-temporal stores.
#pragma once

#include <string.h>

#include "kernkit/cpu/vectorised.h"

namespace kernkit::cpu::detail {

// Prefetches the cache lines of a block, for reading or for writing.
template <class T>
KERNKIT_INLINE void prefetch_input(const T* in, int64_t ahead) {
  asm("" : "+r"(in));
  const char* const first = reinterpret_cast<const char*>(in) + ahead;
  for (unsigned line = 0; line < kBlock * sizeof(T); line += 64) __builtin_prefetch(first + line);
}
template <class T>
KERNKIT_INLINE void prefetch_output(T* out, int64_t ahead) {
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

// Copies 64 bytes by non-temporal stores. Inline assembly, because the builtin's name differs
// between compilers, <immintrin.h> is slow to compile, and a builtin would need a target attribute.
// On an EPYC of family 25, model 1, stores of 32 bytes are 1.0 to 1.5 times as fast as those of 16;
// not so on model 17.
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

/// One block of results, from which non-temporal stores copy at once. (Buffers of several blocks
/// leave long gaps between the stores and reached 0.5 to 0.7 of the best copy on an EPYC of family
/// 25, model 17.) One loop serves all hints, with equal bits.
template <class Out>
struct alignas(64) StagingBuffer {
  unsigned char bytes[kBlock * sizeof(Out)];
};

/// Orders the non-temporal stores of a loop before later stores, for other threads.
KERNKIT_INLINE void end_streaming() {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#endif
}

/// Returns the index of the first element of the next block, after `done` of n elements have been
/// processed. With kInterleavePages, blocks alternate between four pages of the output, so that
/// more memory banks are active and the hardware prefetchers follow every page.
template <class Out>
KERNKIT_INLINE int64_t next_block(unsigned hints, int64_t done, int64_t n) {
  constexpr int64_t kPage = 4096 / sizeof(Out), kPages = 4;
  if ((hints & kInterleavePages) == 0 || done >= (n & -(kPages * kPage))) return done;
  const int64_t in_pages = done & (kPages * kPage - 1), turn = in_pages / kBlock;
  return done - in_pages + turn % kPages * kPage + turn / kPages * kBlock;
}

/// Stores the block that was computed from `in` to `out` and prefetches by `hints`. Prefetch
/// distances after the next block [bytes]: 1024 for inputs and 512 for the output, measured on
/// Cascade Lake. 3072 with non-temporal stores: on an EPYC of family 25, model 1, a distance of
/// 1024 reached 0.85 to 1.0 of that speed, 2048 0.95 to 1.0, 4096 0.9. 256 with interleaved pages:
/// on an Intel Xeon of family 6, model 167, no prefetch reached 0.95 to 1.0 of that speed, 1024 0.8
/// to 1.0.
template <bool kAvx, class Out, class... In>
KERNKIT_INLINE void move_block(unsigned hints, const StagingBuffer<Out>& buffer, Out* out,
                               const In*... in) {
  // The asm keeps the compiler from hoisting this code out of the loop, also for no hints.
  asm("" : "+r"(hints), "+r"(out));
  [[maybe_unused]] int64_t ahead = 1024;
  if ((hints & kNonTemporal) != 0) {
    ahead = (hints & kInterleavePages) != 0 ? 256 : 3072;
    auto* const to = reinterpret_cast<unsigned char*>(out);
    KERNKIT_UNROLLED
    for (unsigned i = 0; i < sizeof(buffer); i += 64) stream_line<kAvx>(to + i, buffer.bytes + i);
  }
  if ((hints & kPrefetchInputs) != 0) (prefetch_input(in + kBlock, ahead), ...);
  if ((hints & kPrefetchOutput) != 0) prefetch_output(out + kBlock, 512);
}

/// Ends the block at element `i` of a loop over `n` elements, `done` of which are computed. Returns
/// the first element of the next block.
template <bool kAvx, class Out, class... In>
KERNKIT_INLINE int64_t end_block(unsigned hints, const StagingBuffer<Out>& buffer, int64_t i,
                                 int64_t done, int64_t n, Out* out, const In*... in) {
  if (hints != 0) {
    move_block<kAvx>(hints, buffer, out + i, in + i...);
    return next_block<Out>(hints, done, n);
  }
  return done;
}

}  // namespace kernkit::cpu::detail
