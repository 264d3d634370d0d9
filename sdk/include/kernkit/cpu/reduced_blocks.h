// SPDX-License-Identifier: Apache-2.0
// Loops of ops on 16-bit floats. F16C converts a whole register of float16 at once; bfloat16 is
// converted in pairs.
#pragma once

#include "kernkit/apply.h"
#include "kernkit/cpu/memory_hints.h"

namespace kernkit::cpu::detail {

/// A pair of bfloat16 in one word, which a shift and a mask split without shuffles.
struct __attribute__((packed, may_alias)) BFloat16Pair {
  uint32_t bits;
  KERNKIT_INLINE float low() const { return kernkit::detail::bit_cast<float>(bits << 16); }
  KERNKIT_INLINE float high() const { return kernkit::detail::bit_cast<float>(bits & 0xffff0000u); }
  KERNKIT_INLINE void set(float low, float high) {
    bits = (kernkit::detail::round_to_bfloat16(low) >> 16) |
           (kernkit::detail::round_to_bfloat16(high) & 0xffff0000u);
  }
};

template <class Op, class... In>
KERNKIT_INLINE void pair_block(const Op& op, bfloat16* out, const In*... in) {
  auto* const pairs = reinterpret_cast<BFloat16Pair*>(out);
  KERNKIT_INDEPENDENT_ITERATIONS
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock / 2; ++i)
    pairs[i].set(op(reinterpret_cast<const BFloat16Pair*>(in)[i].low()...),
                 op(reinterpret_cast<const BFloat16Pair*>(in)[i].high()...));
}

#if KERNKIT_INSTRUCTION_SETS > 1
// Conversions from float16 read memory: a register source needs a shuffle, which doubles the time
// on an EPYC of family 25, model 1. Conversions to float16 write a register: a memory destination
// doubles the time on the same EPYC.
using Halves = uint16_t __attribute__((vector_size(16), aligned(2), may_alias));
using Floats = float __attribute__((vector_size(32)));
inline constexpr int kHalfBlock = 32;  // number of elements; their float values fit in registers

template <class T>
struct Widened {
  compute_t<T> at[kHalfBlock];
  KERNKIT_AVX2 KERNKIT_INLINE explicit Widened(const T* from) {
    if constexpr (std::is_same_v<T, float16>) {
      KERNKIT_UNROLLED
      for (int i = 0; i < kHalfBlock; i += 8) {
        Floats floats;
        asm("vcvtph2ps %1, %0" : "=x"(floats) : "m"(*reinterpret_cast<const Halves*>(from + i)));
        memcpy(at + i, &floats, sizeof(floats));
      }
    } else {
      KERNKIT_UNROLLED
      for (int i = 0; i < kHalfBlock; ++i) at[i] = static_cast<compute_t<T>>(from[i]);
    }
  }
};

template <class Op, class Out, class... In>
KERNKIT_AVX2 KERNKIT_INLINE void half_block(const Op& op, Out* out, const Widened<In>&... in) {
  compute_t<Out> result[kHalfBlock];
  KERNKIT_INDEPENDENT_ITERATIONS
  KERNKIT_UNROLLED
  for (int i = 0; i < kHalfBlock; ++i) result[i] = static_cast<compute_t<Out>>(op(in.at[i]...));
  if constexpr (std::is_same_v<Out, float16>) {
    KERNKIT_UNROLLED
    for (int i = 0; i < kHalfBlock; i += 8) {
      Halves halves;
      Floats floats;
      memcpy(&floats, result + i, sizeof(floats));
      asm("vcvtps2ph $0, %1, %0" : "=x"(halves) : "x"(floats));  // $0: rounds to nearest even
      memcpy(out + i, &halves, sizeof(halves));
    }
  } else {
    KERNKIT_UNROLLED
    for (int i = 0; i < kHalfBlock; ++i) out[i] = Out(result[i]);
  }
}

template <class Op, class Out, class... In>
KERNKIT_AVX2 KERNKIT_INLINE void half_loop(Op op, int64_t n, unsigned hints, Out* out,
                                           const In*... in) {
  StagingBuffer<Out> buffer;
  const bool staged = (hints & kNonTemporal) != 0;
  Out* to = staged ? reinterpret_cast<Out*>(buffer.bytes) : out;
  const int64_t step = staged ? 0 : kBlock;
  for (int64_t i = 0, done = 0; done < n; to += step) {
    for (int64_t j = 0; j < kBlock; j += kHalfBlock)
      half_block(op, to + j, Widened<In>(in + i + j)...);
    done += kBlock;
    i = end_block<true>(hints, buffer, i, done, n, out, in...);
  }
}
#endif

}  // namespace kernkit::cpu::detail
