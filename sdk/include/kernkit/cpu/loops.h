// SPDX-License-Identifier: Apache-2.0
// The loops of one op for one combination of types, one loop for each instruction set.
#pragma once

#include <utility>

#include "kernkit/apply.h"
#include "kernkit/cpu/reduced_blocks.h"
#if __has_include("kernkit/cpu/avx512_bf16.h")
#include "kernkit/cpu/avx512_bf16.h"
#endif

namespace kernkit::cpu::detail {

template <class Op, class Out, class... In>
KERNKIT_INLINE void plain_block(const Op& op, Out* out, const In*... in) {
  KERNKIT_INDEPENDENT_ITERATIONS
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock; ++i) out[i] = apply_op<Out>(op, in[i]...);
}

/// True if an op takes and returns compute types, and T is the element type of at least one array
/// (kWithSome) or of all arrays (kOnlyWith).
template <class T, class Op, class Out, class... In>
inline constexpr bool kWithSome = kernkit::detail::only_computes<Op, Out, In...>() &&
                                  (std::is_same_v<Out, T> || ... || std::is_same_v<In, T>);
template <class T, class Op, class Out, class... In>
inline constexpr bool kOnlyWith = kWithSome<T, Op, Out, In...> &&
                                  (std::is_same_v<Out, T> && ... && std::is_same_v<In, T>);

// The op is copied, so that no store to `out` can change it.
template <InstructionSet kSet, class Op, class Out, class... In>
KERNKIT_INLINE void typed_loop(Op op, int64_t n, unsigned hints, Out* out, const In*... in) {
  if (kSet == InstructionSet::kBaseline) hints &= kNonTemporal;
  StagingBuffer<Out> buffer;
  const bool staged = (hints & kNonTemporal) != 0;
  Out* to = staged ? reinterpret_cast<Out*>(buffer.bytes) : out;
  const int64_t step = staged ? 0 : kBlock;
  for (int64_t i = 0, done = 0; done < n; to += step) {
    if constexpr (kOnlyWith<bfloat16, Op, Out, In...>) {
      pair_block(op, to, in + i...);
    } else {
      plain_block(op, to, in + i...);
    }
    done += kBlock;
    i = end_block<kSet != InstructionSet::kBaseline>(hints, buffer, i, done, n, out, in...);
  }
}

template <class Op, class Indices, class Out, class... In>
struct LoopsOf;
template <class Op, size_t... I, class Out, class... In>
struct LoopsOf<Op, std::index_sequence<I...>, Out, In...> {
/// Defines the static member `name` of LoopsOf, a Loop that calls the function template `loop` with
/// the types of the op and its arrays. `target` is the attribute of the instruction set, or empty.
#define KERNKIT_LOOP(name, loop, target)                                                           \
  target KERNKIT_VECTORISED static void name(const void* op, int64_t n, unsigned hints, void* out, \
                                             [[maybe_unused]] const void* const* in) {             \
    loop(*static_cast<const Op*>(op), n, hints, static_cast<Out*>(out),                            \
         static_cast<const In*>(in[I])...);                                                        \
  }
  KERNKIT_LOOP(baseline, typed_loop<InstructionSet::kBaseline>, )
#if KERNKIT_INSTRUCTION_SETS > 1
  KERNKIT_LOOP(avx2, typed_loop<InstructionSet::kAvx2>, KERNKIT_AVX2)
  KERNKIT_LOOP(halves, half_loop, KERNKIT_AVX2)
  KERNKIT_LOOP(avx512, typed_loop<InstructionSet::kAvx512>, KERNKIT_AVX512)
  KERNKIT_LOOP(avx512_bf16, hardware_loop, KERNKIT_AVX512)
  static constexpr Loop by_set(InstructionSet set) {
    if constexpr (kWithSome<float16, Op, Out, In...>) {
      return halves;  // F16C converts to 256-bit registers, also on AVX-512 processors
    } else {
#if defined(KERNKIT_AVX512_BF16)
      if constexpr (kOnlyWith<bfloat16, Op, Out, In...>)
        if (set == InstructionSet::kAvx512Bf16) return avx512_bf16;
#endif
      return set == InstructionSet::kAvx2 ? avx2 : avx512;
    }
  }
#endif
};

}  // namespace kernkit::cpu::detail
