// SPDX-License-Identifier: Apache-2.0
// The loop of one op on one combination of types, for each instruction set.
#pragma once

#include <utility>

#include "kernkit/apply.h"
#include "kernkit/cpu/half_loop.h"
#include "kernkit/cpu/traffic.h"

namespace kernkit::cpu::detail {

template <class Op, class Out, class... In>
KERNKIT_INLINE void plain_block(const Op& op, Out* out, const In*... in) {
  KERNKIT_INDEPENDENT_ITERATIONS
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock; ++i) out[i] = apply_op<Out>(op, in[i]...);
}

/// Two bfloat16, taken apart by a shift and a mask in place of shuffles.
struct __attribute__((packed, may_alias)) BFloat16Pair {
  uint32_t bits;
};
template <class T>
using pair_of = BFloat16Pair;

template <class Op, class... In>
KERNKIT_INLINE void pair_block(const Op& op, bfloat16* out, const In*... in) {
  auto* const pairs = reinterpret_cast<BFloat16Pair*>(out);
  const auto of_pair = [&](auto... pair) KERNKIT_ALL_INLINE {
    const float low = op(kernkit::detail::bit_cast<float>(pair.bits << 16)...);
    const float high = op(kernkit::detail::bit_cast<float>(pair.bits & 0xffff0000u)...);
    return (kernkit::detail::round_to_bfloat16(low) >> 16) |
           (kernkit::detail::round_to_bfloat16(high) & 0xffff0000u);
  };
  KERNKIT_INDEPENDENT_ITERATIONS
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock / 2; ++i) {
    pairs[i].bits = of_pair(reinterpret_cast<const pair_of<In>*>(in)[i]...);
  }
}

// The op is copied, so that no store to `out` can change it.
template <bool kAvx, class Op, class Out, class... In>
KERNKIT_INLINE void typed_loop(Op op, int64_t n, unsigned ways, Out* out, const In*... in) {
  Stage<Out> stage;
  const bool staged = (ways & kPastCaches) != 0;
  Out* to = staged ? reinterpret_cast<Out*>(stage.bytes) : out;
  const int64_t step = staged ? 0 : kBlock;
  for (int64_t i = 0; i < n; i += kBlock, to += step) {
    if constexpr (kernkit::detail::only_computes<Op, Out, In...>() &&
                  std::is_same_v<Out, bfloat16> && (std::is_same_v<In, bfloat16> && ...)) {
      pair_block(op, to, in + i...);
    } else {
      plain_block(op, to, in + i...);
    }
    if (ways != 0) move_block<kAvx>(ways, stage, out + i, in + i...);
  }
}

template <class Op, class Indices, class Out, class... In>
struct LoopsOf;
template <class Op, size_t... I, class Out, class... In>
struct LoopsOf<Op, std::index_sequence<I...>, Out, In...> {
  KERNKIT_VECTORISED static void baseline(const void* op, int64_t n, unsigned ways, void* out,
                                          [[maybe_unused]] const void* const* in) {
    typed_loop<false>(*static_cast<const Op*>(op), n, ways & kPastCaches, static_cast<Out*>(out),
                      static_cast<const In*>(in[I])...);
  }
#if KERNKIT_INSTRUCTION_SETS > 1
  static constexpr bool kHalves =
      kernkit::detail::only_computes<Op, Out, In...>() &&
      (std::is_same_v<Out, float16> || (std::is_same_v<In, float16> || ...));
  KERNKIT_AVX2 KERNKIT_VECTORISED static void avx2(const void* op, int64_t n, unsigned ways,
                                                   void* out,
                                                   [[maybe_unused]] const void* const* in) {
    if constexpr (kHalves) {
      half_loop(*static_cast<const Op*>(op), n, ways, static_cast<Out*>(out),
                static_cast<const In*>(in[I])...);
    } else {
      typed_loop<true>(*static_cast<const Op*>(op), n, ways, static_cast<Out*>(out),
                       static_cast<const In*>(in[I])...);
    }
  }
  KERNKIT_AVX512 KERNKIT_VECTORISED static void avx512(const void* op, int64_t n, unsigned ways,
                                                       void* out,
                                                       [[maybe_unused]] const void* const* in) {
    typed_loop<true>(*static_cast<const Op*>(op), n, ways, static_cast<Out*>(out),
                     static_cast<const In*>(in[I])...);
  }
  // F16C's registers have 256 bits: half_loop() is not made twice.
  static constexpr Loop by_set(InstructionSet set) {
    if (set == InstructionSet::kBaseline) return baseline;
    if constexpr (kHalves) {
      return avx2;
    } else {
      return set == InstructionSet::kAvx2 ? avx2 : avx512;
    }
  }
#endif
};

}  // namespace kernkit::cpu::detail
