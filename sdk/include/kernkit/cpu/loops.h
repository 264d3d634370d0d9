// SPDX-License-Identifier: Apache-2.0
// The loop of one op on one combination of types, for each instruction set.
//
// The op has no target attribute: it is inlined into functions that have one, and what other code
// calls of it stays free of their instructions. FMA is left out of AVX2, so that a * b + c rounds
// twice everywhere, also where a file is compiled without -ffp-contract=off.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "kernkit/apply.h"
#include "kernkit/cpu/machine.h"

// Says that iterations do not depend on each other, so that a compiler vectorises without a check
// for overlap; that check would send the in-place call down the scalar path.
#if defined(__clang__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#define KERNKIT_UNROLLED
#elif defined(__GNUC__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#define KERNKIT_UNROLLED _Pragma("GCC unroll 4")
#else
#define KERNKIT_INDEPENDENT_ITERATIONS
#define KERNKIT_UNROLLED
#endif

// A function whose loops are vectorised, which g++ does not do at -O2, and that calls nothing it
// can inline. Instructions stay in their order: g++ would write the halves of a cache line apart,
// which costs a third of the speed (Cascade Lake).
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define KERNKIT_VECTORISED                                                                \
  __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off", \
                          "no-schedule-insns2"),                                          \
                 flatten)) KERNKIT_LOCAL
#else
#define KERNKIT_VECTORISED __attribute__((flatten)) KERNKIT_LOCAL
#endif
#define KERNKIT_INLINE __attribute__((always_inline)) inline
#define KERNKIT_AVX2 __attribute__((target("avx2,f16c")))
#define KERNKIT_AVX512 __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))

namespace kernkit::cpu::detail {

/// Loops go in blocks of so many elements: the size is constant, so that a compiler unrolls them.
inline constexpr int kBlock = 64;

/// A loop without its types: out[i] = op(in[i]...) for i in [0, n), n a multiple of kBlock. With
/// `prefetch` it asks for memory ahead of time.
using Loop = void (*)(const void* op, int64_t n, bool prefetch, void* out, const void* const* in);

// Asks for the lines of a block that comes later; for writing at once what will be written, which
// no processor's own prefetch does. Cascade Lake, beyond the caches: 1.1 times the best copy that
// does not ask.
template <class T>
KERNKIT_INLINE void prefetch_block(const T* in) {
  for (unsigned line = 0; line < kBlock * sizeof(T); line += 64) {
    __builtin_prefetch(reinterpret_cast<const char*>(in) + 1024 + line);
  }
}
template <class T>
KERNKIT_INLINE void prefetch_block_to_write(T* out) {
  for (unsigned line = 0; line < kBlock * sizeof(T); line += 64) {
#if KERNKIT_INSTRUCTION_SETS > 1
    asm volatile("prefetchw %0" : : "m"(reinterpret_cast<char*>(out)[512 + line]));
#else
    __builtin_prefetch(reinterpret_cast<char*>(out) + 512 + line, 1);
#endif
  }
}

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
  const auto of_pair = [&](auto... pair) {
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
template <class Op, class Out, class... In>
KERNKIT_INLINE void typed_loop(Op op, int64_t n, bool prefetch, Out* out, const In*... in) {
  for (int64_t i = 0; i < n; i += kBlock) {
    if (prefetch) {
      prefetch_block_to_write(out + i);
      (prefetch_block(in + i), ...);
    }
    if constexpr (kernkit::detail::kOnComputeTypes<Op, In...> && std::is_same_v<Out, bfloat16> &&
                  (std::is_same_v<In, bfloat16> && ...)) {
      pair_block(op, out + i, in + i...);
    } else {
      plain_block(op, out + i, in + i...);
    }
  }
}

#if KERNKIT_INSTRUCTION_SETS > 1

// float16 is converted a register at a time.
using Halves = uint16_t __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(32)));
inline constexpr int kHalfBlock = 32;  // whose compute types stay in registers

template <class T>
struct Widened {
  compute_t<T> at[kHalfBlock];
  KERNKIT_AVX2 KERNKIT_INLINE explicit Widened(const T* from) {
    if constexpr (std::is_same_v<T, float16>) {
      KERNKIT_UNROLLED
      for (int i = 0; i < kHalfBlock; i += 8) {
        Halves halves;
        Floats floats;
        memcpy(&halves, from + i, sizeof(halves));
        asm("vcvtph2ps %1, %0" : "=x"(floats) : "x"(halves));
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
KERNKIT_AVX2 KERNKIT_INLINE void half_loop(Op op, int64_t n, bool prefetch, Out* out,
                                           const In*... in) {
  for (int64_t i = 0; i < n; i += kBlock) {
    if (prefetch) {
      prefetch_block_to_write(out + i);
      (prefetch_block(in + i), ...);
    }
    for (int64_t j = i; j < i + kBlock; j += kHalfBlock) {
      half_block(op, out + j, Widened<In>(in + j)...);
    }
  }
}

#endif

template <class Op, class Indices, class Out, class... In>
struct LoopsOf;
template <class Op, size_t... I, class Out, class... In>
struct LoopsOf<Op, std::index_sequence<I...>, Out, In...> {
  KERNKIT_VECTORISED static void baseline(const void* op, int64_t n, bool, void* out,
                                          [[maybe_unused]] const void* const* in) {
    typed_loop(*static_cast<const Op*>(op), n, false, static_cast<Out*>(out),
               static_cast<const In*>(in[I])...);
  }
#if KERNKIT_INSTRUCTION_SETS > 1
  static constexpr bool kHalves =
      kernkit::detail::kOnComputeTypes<Op, In...> &&
      (std::is_same_v<Out, float16> || (std::is_same_v<In, float16> || ...));
  KERNKIT_AVX2 KERNKIT_VECTORISED static void avx2(const void* op, int64_t n, bool prefetch,
                                                   void* out,
                                                   [[maybe_unused]] const void* const* in) {
    if constexpr (kHalves) {
      half_loop(*static_cast<const Op*>(op), n, prefetch, static_cast<Out*>(out),
                static_cast<const In*>(in[I])...);
    } else {
      typed_loop(*static_cast<const Op*>(op), n, prefetch, static_cast<Out*>(out),
                 static_cast<const In*>(in[I])...);
    }
  }
  KERNKIT_AVX512 KERNKIT_VECTORISED static void avx512(const void* op, int64_t n, bool prefetch,
                                                       void* out,
                                                       [[maybe_unused]] const void* const* in) {
    typed_loop(*static_cast<const Op*>(op), n, prefetch, static_cast<Out*>(out),
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
