// SPDX-License-Identifier: Apache-2.0
// Loops of bfloat16 ops for processors with AVX512_BF16. The results have the same bits as the
// results of pair_block().
#pragma once

#include "kernkit/cpu/reduced_blocks.h"

#if KERNKIT_INSTRUCTION_SETS > 1
namespace kernkit::cpu::detail {

#define KERNKIT_AVX512_BF16 1

inline constexpr int kPairs = kBlock / 2;
KERNKIT_INLINE BFloat16Pair pair_at(const bfloat16* in, int i) {
  return reinterpret_cast<const BFloat16Pair*>(in)[i];
}

/// Computes a block and converts the results by vcvtne2ps2bf16. The instruction flushes subnormal
/// numbers to zero, so a block whose results contain zeros is checked for subnormal numbers, by
/// integer comparisons: a floating-point comparison would treat them as zero if the thread's
/// floating-point mode flushes subnormal numbers.
template <class Op, class... In>
KERNKIT_AVX512 KERNKIT_INLINE void hardware_pair_block(const Op& op, bfloat16* out,
                                                       const In*... in) {
  using Words = uint16_t __attribute__((vector_size(64)));
  alignas(64) float low[kPairs], high[kPairs];
  KERNKIT_INDEPENDENT_ITERATIONS
  KERNKIT_UNROLLED
  for (int i = 0; i < kPairs; ++i) {
    low[i] = op(pair_at(in, i).low()...);
    high[i] = op(pair_at(in, i).high()...);
  }
  Words l[2], h[2], both[2];
  memcpy(l, low, sizeof(l));
  memcpy(h, high, sizeof(h));
  bool has_zeros;
  asm("vcvtne2ps2bf16 %3, %5, %0\n\tvcvtne2ps2bf16 %4, %6, %1\n\t"
      "vptestnmw %0, %7, %%k1\n\tvptestnmw %1, %7, %%k2\n\tkortestd %%k1, %%k2"
      : "=&v"(both[0]), "=&v"(both[1]), "=@ccnz"(has_zeros)
      : "v"(l[0]), "v"(l[1]), "v"(h[0]), "v"(h[1]), "v"(Words{} + uint16_t{0x7fff})
      : "k1", "k2");
  if (__builtin_expect(has_zeros, 0)) {
    using Lanes = uint32_t __attribute__((vector_size(64)));
    Lanes results[4], least = Lanes{} + UINT32_MAX;
    memcpy(results, l, sizeof(l));
    memcpy(results + 2, h, sizeof(h));
    for (const Lanes& bits : results) {
      const Lanes but_zero = bits + bits - 1;
      least = but_zero < least ? but_zero : least;
    }
    const auto subnormal = least < 0x00ffffffu;
    bool has_subnormals;
    asm("vptestmd %1, %1, %%k1\n\tkortestw %%k1, %%k1"
        : "=@ccnz"(has_subnormals)
        : "v"(subnormal)
        : "k1");
    if (__builtin_expect(has_subnormals, 0)) {
      float again[2][kPairs];  // a copy in memory, so that `low` and `high` stay in registers
      memcpy(again[0], l, sizeof(l));
      memcpy(again[1], h, sizeof(h));
      auto* const pairs = reinterpret_cast<BFloat16Pair*>(out);
      for (int i = 0; i < kPairs; ++i) pairs[i].set(again[0][i], again[1][i]);
      return;
    }
  }
  constexpr Words kInTurn = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                             8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  for (int64_t i = 0; i < 2; ++i) {
    asm("vpermw %1, %2, %0" : "=v"(both[i]) : "v"(both[i]), "v"(kInTurn));
    memcpy(out + i * kPairs, &both[i], sizeof(both[i]));
  }
}

// The same loop as typed_loop(), but with a target attribute: typed_loop() has none and therefore
// cannot inline hardware_pair_block().
template <class Op, class... In>
KERNKIT_AVX512 KERNKIT_INLINE void hardware_loop(Op op, int64_t n, unsigned hints, bfloat16* out,
                                                 const In*... in) {
  StagingBuffer<bfloat16> buffer;
  const bool staged = (hints & kNonTemporal) != 0;
  bfloat16* to = staged ? reinterpret_cast<bfloat16*>(buffer.bytes) : out;
  const int64_t step = staged ? 0 : kBlock;
  for (int64_t i = 0, done = 0; done < n; to += step) {
    hardware_pair_block(op, to, in + i...);
    done += kBlock;
    i = end_block<true>(hints, buffer, i, done, n, out, in...);
  }
}

}  // namespace kernkit::cpu::detail

#endif
