// SPDX-License-Identifier: Apache-2.0
// What the loops of all instruction sets share: how a compiler is told, and blocks.
//
// The op has no target attribute: it is inlined into functions that have one, and what other code
// calls of it stays free of their instructions. FMA is left out of AVX2: a * b + c rounds twice.
#pragma once

#include <stdint.h>

#include "kernkit/base/inline.h"
#include "kernkit/cpu/machine.h"

// Says that iterations do not depend on each other, so that a compiler vectorises without a check
// for overlap; that check would send the in-place call down the scalar path.
#if defined(__clang__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KERNKIT_INDEPENDENT_ITERATIONS
#endif

// g++ unrolls when it is told; nvcc does not know how to pass that on. It makes scalar code of a
// short loop, which it unrolls before it vectorises, unless it is told not to.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define KERNKIT_UNROLLED _Pragma("GCC unroll 4")
#define KERNKIT_NOT_UNROLLED _Pragma("GCC unroll 1")
#else
#define KERNKIT_UNROLLED
#define KERNKIT_NOT_UNROLLED
#endif

// A function whose loops are vectorised, which g++ does not do at -O2, and that calls nothing it
// can inline. Instructions stay in their order: g++ would write the halves of a cache line apart,
// which costs a third of the speed (Cascade Lake). A loop over rows leaves out passes of g++ that
// find next to nothing in blocks without branches. GCSE and PRE are not among these passes: without
// GCSE softmax executes 7 to 23 % more instructions.
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define KERNKIT_VECTORISED_BY(...)                                                                \
  __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off",         \
                          "no-schedule-insns2", "no-tree-loop-distribute-patterns", __VA_ARGS__), \
                 flatten)) KERNKIT_LOCAL
#define KERNKIT_VECTORISED KERNKIT_VECTORISED_BY("peel-loops")
#define KERNKIT_VECTORISED_ROWS                                                                  \
  KERNKIT_VECTORISED_BY("peel-loops", "no-tree-vrp", "no-gcse-after-reload",                     \
                        "no-rerun-cse-after-loop", "no-cse-follow-jumps", "no-unswitch-loops",   \
                        "no-split-loops", "no-version-loops-for-strides", "no-loop-interchange", \
                        "no-loop-unroll-and-jam", "no-predictive-commoning",                     \
                        "no-tree-loop-distribution", "no-split-paths", "no-store-merging",       \
                        "no-crossjumping", "no-tree-tail-merge")
#else
#define KERNKIT_VECTORISED __attribute__((flatten)) KERNKIT_LOCAL
#define KERNKIT_VECTORISED_ROWS KERNKIT_VECTORISED
#endif
// A function that rounds a product before it is added to, so that a few elements have the bits of
// many: g++ fuses where the compiler was told of FMA, such as by -march=native, unless
// -ffp-contract=off, which no header can ask of a file. clang++ fuses when it reads the op.
#if defined(__FP_FAST_FMAF) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define KERNKIT_UNFUSED \
  __attribute__((optimize("fp-contract=off"), flatten, noinline)) KERNKIT_LOCAL
#else
#define KERNKIT_UNFUSED
#endif
#define KERNKIT_AVX2 __attribute__((target("avx2,f16c")))
#define KERNKIT_AVX512 __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))

namespace kernkit::cpu::detail {

/// Loops go in blocks of so many elements: the size is constant, so that a compiler unrolls them.
inline constexpr int kBlock = 64;

/// A loop without its types: out[i] = op(in[i]...) for i in [0, n), n a multiple of kBlock. `ways`:
/// how it moves them, in bits of Way; past the caches only from the start of a line.
using Loop = void (*)(const void* op, int64_t n, unsigned ways, void* out, const void* const* in);

}  // namespace kernkit::cpu::detail
