// SPDX-License-Identifier: Apache-2.0
// Compiler attributes and the block size, shared by the loops of all instruction sets.
//
// The op has no target attribute: it is inlined into functions with a target attribute, and copies
// that other code calls contain no AVX instructions. KERNKIT_AVX2 excludes FMA: a * b + c rounds
// twice.
#pragma once

#include <stdint.h>

#include "kernkit/base/inline.h"
#include "kernkit/cpu/machine.h"

/// Asserts before a loop that its iterations are independent: the compiler vectorises without a
/// check for overlap, which would select the scalar path for an in-place call. Empty for compilers
/// other than g++ and clang++.
#if defined(__clang__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KERNKIT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KERNKIT_INDEPENDENT_ITERATIONS
#endif

/// Unrolls the next loop four times. Without the pragma, g++ would not unroll the loop. Empty for
/// other compilers, and for nvcc, which does not pass the pragma to g++.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define KERNKIT_UNROLLED _Pragma("GCC unroll 4")
/// Keeps g++ from unrolling a short loop before vectorisation, which would give scalar code.
#define KERNKIT_NOT_UNROLLED _Pragma("GCC unroll 1")
#else
#define KERNKIT_UNROLLED
/// Empty: only g++ unrolls a short loop before vectorisation.
#define KERNKIT_NOT_UNROLLED
#endif

// Disables instruction scheduling: g++ would separate the stores of the two halves of a cache line,
// which costs a third of the speed (Cascade Lake).
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
/// Marks a function whose loops are vectorised with the dynamic cost model (-O2 has the very-cheap
/// model in g++ 12, and no vectorisation before), into which all calls are inlined (flatten), and
/// in which a * b + c rounds twice (fp-contract=off). The function is hidden (KERNKIT_LOCAL). The
/// arguments, at least one, are further optimisation options of g++, as string literals. Defined
/// for g++ with optimisation only.
#define KERNKIT_VECTORISED_BY(...)                                                                \
  __attribute__((optimize("tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off",         \
                          "no-schedule-insns2", "no-tree-loop-distribute-patterns", __VA_ARGS__), \
                 flatten)) KERNKIT_LOCAL
/// Marks a function with the loop of an elementwise op: KERNKIT_VECTORISED_BY with loop peeling.
/// With other compilers, or without optimisation, the function is only flattened and hidden:
/// vectorisation and fusion then depend on the compiler's options.
#define KERNKIT_VECTORISED KERNKIT_VECTORISED_BY("peel-loops")
/// Marks a function with a loop over rows. Disables passes of g++ that improve almost nothing in
/// blocks without branches, but take compile time. GCSE and PRE stay enabled: without GCSE, softmax
/// executes 7 to 23 % more instructions.
#define KERNKIT_VECTORISED_ROWS                                                                  \
  KERNKIT_VECTORISED_BY("peel-loops", "no-tree-vrp", "no-gcse-after-reload",                     \
                        "no-rerun-cse-after-loop", "no-cse-follow-jumps", "no-unswitch-loops",   \
                        "no-split-loops", "no-version-loops-for-strides", "no-loop-interchange", \
                        "no-loop-unroll-and-jam", "no-predictive-commoning",                     \
                        "no-tree-loop-distribution", "no-split-paths", "no-store-merging",       \
                        "no-crossjumping", "no-tree-tail-merge")
#else
/// Marks a hidden function into which all calls are inlined. Vectorisation and fusion depend on the
/// compiler's options.
#define KERNKIT_VECTORISED __attribute__((flatten)) KERNKIT_LOCAL
/// Marks a function with a loop over rows; the same as KERNKIT_VECTORISED.
#define KERNKIT_VECTORISED_ROWS KERNKIT_VECTORISED
#endif
/// Marks a function that rounds products before additions, so that scalar and vectorised loops give
/// the same bits. With FMA enabled, for example by -march=native, g++ fuses products and additions
/// unless -ffp-contract=off is set, which a header cannot do for a whole file. clang++ decides
/// about fusion in its front end. Empty without FMA.
#if defined(__FP_FAST_FMAF) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define KERNKIT_UNFUSED \
  __attribute__((optimize("fp-contract=off"), flatten, noinline)) KERNKIT_LOCAL
#else
#define KERNKIT_UNFUSED
#endif
/// Compiles a function for AVX2 and F16C, without FMA. A call requires machine().instruction_set to
/// be kAvx2 or a later instruction set.
#define KERNKIT_AVX2 __attribute__((target("avx2,f16c")))
/// Compiles a function for AVX-512 F, BW, DQ and VL, with AVX2 and F16C. A call requires
/// machine().instruction_set to be kAvx512 or a later instruction set.
#define KERNKIT_AVX512 __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")))

namespace kernkit::cpu::detail {

/// Number of elements of a block. The number is constant, so that a compiler unrolls the loop over
/// a block.
inline constexpr int kBlock = 64;

/// A type-erased loop: out[i] = op(in[i]...) for i in [0, n), n a multiple of kBlock. `hints` are
/// bits of MemoryHint; kNonTemporal requires `out` at the start of a cache line.
using Loop = void (*)(const void* op, int64_t n, unsigned hints, void* out, const void* const* in);

}  // namespace kernkit::cpu::detail
