// SPDX-License-Identifier: Apache-2.0
// The loop of an op on float16, which F16C converts a register at a time.
#pragma once

#include "kernkit/apply.h"
#include "kernkit/cpu/traffic.h"

#if KERNKIT_INSTRUCTION_SETS > 1

namespace kernkit::cpu::detail {

// Converted from memory: from a register it costs a shuffle, twice the time on an EPYC of family
// 25, model 1, where to memory costs twice the time of to a register.
using Halves = uint16_t __attribute__((vector_size(16), aligned(2), may_alias));
using Floats = float __attribute__((vector_size(32)));
inline constexpr int kHalfBlock = 32;  // whose compute types stay in registers

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
      asm("vcvtps2ph $0, %1, %0" : "=x"(halves) : "x"(floats));  // 0: to nearest even
      memcpy(out + i, &halves, sizeof(halves));
    }
  } else {
    KERNKIT_UNROLLED
    for (int i = 0; i < kHalfBlock; ++i) out[i] = Out(result[i]);
  }
}

template <class Op, class Out, class... In>
KERNKIT_AVX2 KERNKIT_INLINE void half_loop(Op op, int64_t n, unsigned ways, Out* out,
                                           const In*... in) {
  Stage<Out> stage;
  const bool staged = (ways & kPastCaches) != 0;
  Out* to = staged ? reinterpret_cast<Out*>(stage.bytes) : out;
  const int64_t step = staged ? 0 : kBlock;
  for (int64_t i = 0; i < n; i += kBlock, to += step) {
    for (int64_t j = 0; j < kBlock; j += kHalfBlock) {
      half_block(op, to + j, Widened<In>(in + i + j)...);
    }
    if (ways != 0) move_block<true>(ways, stage, out + i, in + i...);
  }
}

}  // namespace kernkit::cpu::detail

#endif
