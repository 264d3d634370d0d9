// SPDX-License-Identifier: Apache-2.0
// A row of elements: what the body of cpu::rows() does with it, in the code of one instruction set.
#pragma once

#include <string.h>

#include <type_traits>

#include "kernkit/cpu/loops.h"
#include "kernkit/cpu/reduction.h"

namespace kernkit::cpu {

namespace detail {

// float16 by F16C, eight at a time. Through memory, so that no function's target must be named.
template <class T>
KERNKIT_INLINE void widen_halves([[maybe_unused]] float (&to)[kBlock],
                                 [[maybe_unused]] const T* from) {
#if KERNKIT_INSTRUCTION_SETS > 1
  auto* const in = reinterpret_cast<const Bytes<16>*>(from);
  auto* const out = reinterpret_cast<Bytes<32>*>(to);
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock / 8; ++i) {
    asm("vcvtph2ps %1, %%ymm0\n\tvmovups %%ymm0, %0" : "=m"(out[i]) : "m"(in[i]) : "xmm0");
  }
#endif
}
template <class T>
KERNKIT_INLINE void narrow_to_halves([[maybe_unused]] T* to,
                                     [[maybe_unused]] const float (&from)[kBlock]) {
#if KERNKIT_INSTRUCTION_SETS > 1
  auto* const in = reinterpret_cast<const Bytes<32>*>(from);
  auto* const out = reinterpret_cast<Bytes<16>*>(to);
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock / 8; ++i) {  // 0: to nearest even
    asm("vmovups %1, %%ymm0\n\tvcvtps2ph $0, %%ymm0, %0" : "=m"(out[i]) : "m"(in[i]) : "xmm0");
  }
#endif
}

// A block of an input as it is, or widened.
template <bool kWiden, class T>
struct BlockOf {
  const T* at;
  KERNKIT_INLINE explicit BlockOf(const T* from) : at(from) {}
};
template <>
struct BlockOf<true, float16> {
  float at[kBlock];
  KERNKIT_INLINE explicit BlockOf(const float16* from) { widen_halves(at, from); }
};

/// What there is of a block at the end of a row; the rest repeats its first element.
template <class T>
struct PartOfBlock {
  T at[kBlock];
  PartOfBlock() = default;
  KERNKIT_INLINE PartOfBlock(const T* from, int64_t count) {
    memcpy(at, from, static_cast<size_t>(count) * sizeof(T));
    for (int64_t i = count; i < kBlock; ++i) at[i] = at[0];
  }
};

template <class Op, class... In>
using result_of = std::decay_t<std::invoke_result_t<const Op&, compute_t<In>...>>;

}  // namespace detail

/// A row of d elements. Ops take the elements' compute types and are inlined; those of sum() and
/// max() make what is reduced, which is float or double. Pointers are to the row's first element,
/// aligned to an element at least. kF16c: whether the code may use it.
template <bool kF16c>
class Row {
 public:
  KERNKIT_INLINE explicit Row(int64_t d) : d_(d) {}

  /// The sum of op(in[i]...); 0 of an empty row. In the type that op returns.
  template <class Op, class... In>
  KERNKIT_INLINE auto sum(const Op& op, const In*... in) const {
    return reduce<detail::Sum, void>(op, nullptr, in...);
  }

  /// The largest op(in[i]...): NaN where one is, -infinity of an empty row.
  template <class Op, class... In>
  KERNKIT_INLINE auto max(const Op& op, const In*... in) const {
    return reduce<detail::Max, void>(op, nullptr, in...);
  }

  /// out[i] = op(in[i]...), rounded once. `out` may be one of the inputs.
  template <class Op, class Out, class... In>
  KERNKIT_INLINE void map(const Op& op, Out* out, const In*... in) const {
    int64_t i = 0;
    for (; i + detail::kBlock <= d_; i += detail::kBlock) map_block(op, out + i, (in + i)...);
    if (i < d_) {
      detail::PartOfBlock<Out> result;
      map_block(op, result.at, detail::PartOfBlock<In>(in + i, d_ - i).at...);
      memcpy(out + i, result.at, static_cast<size_t>(d_ - i) * sizeof(Out));
    }
  }

  /// Both: out[i] = op(in[i]...), and the sum of these before they are rounded.
  template <class Op, class Out, class... In>
  KERNKIT_INLINE auto map_sum(const Op& op, Out* out, const In*... in) const {
    return reduce<detail::Sum, Out>(op, out, in...);
  }

 private:
  template <class T>
  static constexpr bool kWiden = kF16c&& std::is_same_v<T, float16>;

  // block[j] = op(in[j]...)
  template <class Op, class R, class... In>
  KERNKIT_INLINE static void compute(const Op& op, R (&block)[detail::kBlock], const In*... in) {
    compute_of(op, block, detail::BlockOf<kWiden<In>, In>(in)...);
  }
  template <class Op, class R, class... Block>
  KERNKIT_INLINE static void compute_of(const Op& op, R (&block)[detail::kBlock],
                                        const Block&... in) {
    KERNKIT_INDEPENDENT_ITERATIONS
    KERNKIT_UNROLLED
    for (int j = 0; j < detail::kBlock; ++j) block[j] = apply_op<R>(op, in.at[j]...);
  }

  template <class Out, class R>
  KERNKIT_INLINE static void store(Out* out, const R (&block)[detail::kBlock]) {
    if constexpr (kWiden<Out> && std::is_same_v<R, float>) {
      detail::narrow_to_halves(out, block);
    } else {
      KERNKIT_INDEPENDENT_ITERATIONS
      KERNKIT_UNROLLED
      for (int j = 0; j < detail::kBlock; ++j) {
        out[j] = Out(static_cast<compute_t<Out>>(block[j]));
      }
    }
  }

  template <class Op, class Out, class... In>
  KERNKIT_INLINE static void map_block(const Op& op, Out* out, const In*... in) {
    if constexpr (kWiden<Out> || (kWiden<In> || ...)) {
      compute_t<Out> block[detail::kBlock];
      compute(op, block, in...);
      store(out, block);
    } else if constexpr (std::is_same_v<Out, bfloat16> && (std::is_same_v<In, bfloat16> && ...)) {
      detail::pair_block(op, out, in...);
    } else {
      detail::plain_block(op, out, in...);
    }
  }

  // Where Out is not void, what is reduced is stored as well. The lanes of whole blocks stay in
  // registers: those of the last part are a copy of them.
  template <template <class> class Reduction, class Out, class Op, class... In>
  KERNKIT_INLINE auto reduce(const Op& op, Out* out, const In*... in) const {
    using R = detail::result_of<Op, In...>;
    static_assert(std::is_same_v<R, float> || std::is_same_v<R, double>,
                  "row: op makes float or double");
    Reduction<R> whole;
    int64_t i = 0;
    for (; i + detail::kBlock <= d_; i += detail::kBlock) {
      R block[detail::kBlock];
      compute(op, block, (in + i)...);
      whole.add(block);
      if constexpr (!std::is_void_v<Out>) store(out + i, block);
    }
    Reduction<R> all = whole;
    if (i < d_) {
      R block[detail::kBlock], padded[detail::kBlock];
      compute(op, block, detail::PartOfBlock<In>(in + i, d_ - i).at...);
      const int count = static_cast<int>(d_ - i);
      for (int j = 0; j < detail::kBlock; ++j) {
        padded[j] = j < count ? block[j] : Reduction<R>::kNothing;
      }
      all.add(padded);
      if constexpr (!std::is_void_v<Out>) {
        detail::PartOfBlock<Out> result;
        store(result.at, block);
        memcpy(out + i, result.at, static_cast<size_t>(count) * sizeof(Out));
      }
    }
    return all.result();
  }

  int64_t d_;
};

}  // namespace kernkit::cpu
