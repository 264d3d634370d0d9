// SPDX-License-Identifier: Apache-2.0
// The CPU loop of an elementwise op.
#pragma once

#include <stddef.h>

#include "kernkit/cpu/loops.h"

namespace kernkit::cpu {

namespace detail {

/// The loops of an op, with the op's type erased.
struct Loops {
  const Loop* by_set;   // KERNKIT_INSTRUCTION_SETS loops, in the order of InstructionSet
  const size_t* sizes;  // element sizes of the output and of each input [bytes]
  size_t inputs;
  bool waits;  // whether memory limits the op's speed (kWaitsForMemory)
};

/// True if the op declares, by kWaitsForMemory, that the op's computation takes less time than
/// loading the elements from the second-level cache.
template <class Op>
constexpr auto waits_of(int) -> decltype(Op::kWaitsForMemory) {
  return Op::kWaitsForMemory;
}
template <class Op>
constexpr bool waits_of(...) {
  return false;
}
template <class Op, class... T>
inline constexpr bool kWaits = waits_of<Op>(0) && (std::is_same_v<T, compute_t<T>> && ...);

inline constexpr size_t kMaxInputs = 7;
inline constexpr size_t kMaxSize = 16;  // largest size of an element [bytes]

// The least total size of the arrays [bytes] for which blocks are aligned to the output's cache
// lines. For smaller arrays the additional block takes more time, about 20 ns, than unaligned
// stores.
inline constexpr size_t kAligningBytes = 16 << 10;

/// True if a loop over whole blocks covers all n elements and needs no additional blocks to align
/// the output. `bytes` is the total size of the arrays.
KERNKIT_INLINE bool in_whole_lines(int64_t n, const void* out, size_t bytes) {
  const auto past_line = bytes < kAligningBytes ? 0 : reinterpret_cast<uintptr_t>(out) % 64;
  return n % kBlock == 0 && past_line == 0;
}

// Chooses a loop and its memory hints, and runs the loop. Shared by all ops, and compiled once.
void run_loop(const Loops& loops, int64_t n, const void* op, void* out, const void* const* in);

// The scalar loop computes fewer than kFew elements: copying so few elements to and from a
// temporary block takes longer, about 40 ns.
template <class... T>
inline constexpr int64_t kFew = (std::is_same_v<T, compute_t<T>> && ...) ? 32 : 8;

// The scalar loop. The empty asm keeps the compiler from vectorising the loop.
template <class Op, class Out, class... In>
KERNKIT_UNFUSED inline void scalar_loop(const Op& op, int64_t n, Out* out, const In*... in) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = apply_op<Out>(op, in[i]...);
    asm volatile("");
  }
}

// The template parameter `Sets`, the number of instruction sets, makes this function's symbol
// differ from the symbol in a file that is compiled for fewer instruction sets, such as a file
// compiled by nvcc.
template <int Sets, class Op, class Out, class... In>
__attribute__((noinline)) KERNKIT_LOCAL void start_loop(int64_t n, const Op& op, Out* out,
                                                        const In*... in) {
  using L = LoopsOf<Op, std::index_sequence_for<In...>, Out, In...>;
  static constexpr Loop kLoops[] = {
    L::baseline,
#if KERNKIT_INSTRUCTION_SETS > 1
    L::by_set(InstructionSet::kAvx2),
    L::by_set(InstructionSet::kAvx512),
    L::by_set(InstructionSet::kAvx512Bf16)
#endif
  };
  static_assert(sizeof(kLoops) / sizeof(Loop) == Sets);
  static constexpr size_t kSizes[] = {sizeof(Out), sizeof(In)...};
  const void* const inputs[] = {in..., nullptr};
  const Machine* const here = __atomic_load_n(&cached_machine, __ATOMIC_ACQUIRE);
  const size_t bytes = (sizeof(Out) + ... + sizeof(In)) * static_cast<size_t>(n);
  // Makes the choice of run_loop() for arrays that need no hints and no threads, without storing
  // the arguments in memory: these stores would wait for the stores of the previous loop.
  if (here != nullptr && bytes < here->prefetching_bytes && bytes < here->streaming_bytes &&
      bytes < here->threading_bytes && in_whole_lines(n, out, bytes)) {
    return kLoops[static_cast<int>(here->instruction_set)](&op, n, 0, out, inputs);
  }
  run_loop({kLoops, kSizes, sizeof...(In), kWaits<Op, Out, In...>}, n, &op, out, inputs);
}

}  // namespace detail

/// Computes out[i] = apply_op(op, in[i]...) for i in [0, n); n <= 0 computes nothing. `out` may be
/// one of the inputs (exactly in place); otherwise they must not overlap. Requires that elements of
/// type T are aligned to alignof(T). Several threads compute the output if the arrays have
/// machine().threading_bytes or more in total.
///
///     cpu::elementwise(x.numel(), Scale<T>{factor}, y.data<T>(), x.data<const T>());
///
/// The op is inlined into a loop for each instruction set; the best loop for the machine runs. The
/// op should be short and a pure function of its arguments, and is called in any order. For 16-bit
/// floats write the op on compute_t<T> (see apply.h): a whole register is then converted at once,
/// several times as fast as an op that converts each element. An op that does as little as a
/// product or a sum declares `static constexpr bool kWaitsForMemory = true;`: for arrays larger
/// than the first-level cache, the loop then uses the register width with which memory is fastest.
/// Throws only what the op throws; the output is then partly written. Several threads may call the
/// op, through a const reference or a copy, at the same time. The function returns when the output
/// is written and no thread uses the arrays any more.
template <class Op, class Out, class... In>
void elementwise(int64_t n, const Op& op, Out* out, const In*... in) {
  static_assert(
      !std::is_const_v<Out>,
      "elementwise: the output, which comes before the inputs, is const: pass y.data<T>()");
  static_assert(
      kernkit::detail::is_applicable<Op, Out, In...>(),
      "elementwise: op does not accept the input types, or its result does not convert to "
      "the output type");
  static_assert(sizeof...(In) <= detail::kMaxInputs, "elementwise: supports at most 7 inputs");
  static_assert(sizeof(Out) <= detail::kMaxSize && ((sizeof(In) <= detail::kMaxSize) && ...),
                "elementwise: elements have at most 16 bytes");
  if (__builtin_expect(n < (detail::kFew<Out, In...>), 1)) {
    // The branch for few elements is marked as likely: saving a jump only matters for a short loop.
    detail::scalar_loop(op, n, out, in...);
  } else {
    detail::start_loop<KERNKIT_INSTRUCTION_SETS>(n, op, out, in...);
  }
}

}  // namespace kernkit::cpu

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/elementwise.h"
#endif
