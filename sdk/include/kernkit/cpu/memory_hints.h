// SPDX-License-Identifier: Apache-2.0
// Prefetches and non-temporal stores of a loop, as the bits of MemoryHint select them.
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

// Copies 64 bytes by non-temporal stores. Uses inline assembly, because the builtin's name differs
// between compilers, <immintrin.h> is slow to compile, and a builtin would need a target attribute.
// On an EPYC of family 25, model 1, stores of 32 bytes are 1.0 to 1.5 times as fast as stores of 16
// bytes; on model 17 they are not faster.
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

/// One block of results, which is copied to the output by non-temporal stores as soon as it is
/// computed. (Buffers of several blocks leave long gaps between the stores and reached 0.5 to 0.7
/// of the speed of the fastest copy on an EPYC of family 25, model 17.) The same loop computes the
/// results for all hints, so the bits are equal.
template <class Out>
struct alignas(64) StagingBuffer {
  unsigned char bytes[kBlock * sizeof(Out)];
};

/// Orders the non-temporal stores of a loop before later stores, as other threads see them.
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

/// Copies the block that was computed from `in` to `out`, if `hints` requires non-temporal stores,
/// and prefetches as `hints` requires. The prefetch distances, counted from the next block [bytes],
/// were measured. On Cascade Lake, 1024 for inputs and 512 for the output are fastest. With
/// non-temporal stores the distance is 3072: on an EPYC of family 25, model 1, a distance of 1024
/// reached 0.85 to 1.0 of the speed with 3072, 2048 reached 0.95 to 1.0, and 4096 reached 0.9. With
/// interleaved pages the distance is 256: on an Intel Xeon of family 6, model 167, no prefetch
/// reached 0.95 to 1.0 of the speed with 256, and 1024 reached 0.8 to 1.0.
template <bool kAvx, class Out, class... In>
KERNKIT_INLINE void move_block(unsigned hints, const StagingBuffer<Out>& buffer, Out* out,
                               const In*... in) {
  // The asm keeps the compiler from hoisting code for `hints` out of the loop, where it would also
  // run without hints.
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

/// Completes the block that begins at element `i`, in a loop that has computed `done` of `n`
/// elements: calls move_block() if `hints` is not 0. Returns the index of the first element of the
/// next block.
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
