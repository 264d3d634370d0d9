// SPDX-License-Identifier: Apache-2.0
// The instruction sets and caches of the machine, for CPU loops.
#pragma once

#include <stddef.h>

#include "kernkit/base/cold.h"

/// Number of instruction sets for which loops are compiled. Instruction sets beyond the compiler's
/// target are supported on x86-64 only, with g++ and clang++.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define KERNKIT_INSTRUCTION_SETS 4
#else
#define KERNKIT_INSTRUCTION_SETS 1
#endif

namespace kernkit::cpu {

/// The instruction sets for which loops are compiled. Every instruction set includes the previous
/// instruction sets.
enum class InstructionSet {
  kBaseline,    ///< the compiler's target: SSE2 in a generic x86-64 build
  kAvx2,        ///< AVX2 with F16C
  kAvx512,      ///< AVX-512 F, BW, DQ and VL
  kAvx512Bf16,  ///< AVX512_BF16, which converts float to bfloat16
};

/// Bit flags that choose how a loop loads and stores its arrays. The flags do not affect the
/// results.
enum MemoryHint : unsigned {
  kPrefetchInputs = 1,   ///< prefetches the inputs for reading
  kPrefetchOutput = 2,   ///< prefetches the output for writing, which no hardware prefetcher does
  kNonTemporal = 4,      ///< stores the output by non-temporal stores
  kInterleavePages = 8,  ///< alternates non-temporal stores between four pages
  kHalfWidth = 16,       ///< uses 32-byte registers if memory limits the op's speed
};

/// The processor's instruction set, and the sizes from which loops change how they access memory. A
/// size is the total size of a loop's arrays [bytes]. The sizes come from the measurements in
/// impl/machine.h.
struct Machine {
  InstructionSet instruction_set;  ///< instruction set of the loops that run
  unsigned prefetching;            ///< bits of MemoryHint for loops over prefetching_bytes or more
  /// Bits of MemoryHint for loops over streaming_bytes or more whose output is not an input.
  unsigned streaming;
  size_t prefetching_bytes;  ///< least size of a loop with the hints `prefetching` [bytes]
  size_t streaming_bytes;    ///< least size of a loop with the hints `streaming` [bytes]
  size_t threading_bytes;    ///< least size of a loop that runs on several threads [bytes]
};

/// Returns the machine on which the process runs, which the first call determines; valid until the
/// end of the process. The environment variable KERNKIT_INSTRUCTION_SET, read once, limits the
/// instruction set to "baseline", "avx2" or "avx512"; other values are ignored. With
/// -ffp-contract=off, which kernkit_add_library() sets, results are equal for all instruction sets,
/// except for the bits of a NaN; without the flag clang++ fuses a * b + c in the AVX-512 loops.
/// Safe from any thread; throws nothing.
const Machine& machine() noexcept;

namespace detail {

/// Returns the best instruction set of an x86 processor with F16C. `saved` are the registers that
/// the operating system saves (xgetbv), `features` is ebx of cpuid leaf 7, subleaf 0, and `more` is
/// eax of leaf 7, subleaf 1.
InstructionSet instruction_set_of(unsigned saved, unsigned features, unsigned more) noexcept;

/// Vendor, family and model of a processor, as cpuid returns them.
struct Processor {
  enum Vendor { kOther, kIntel, kAmd } vendor;
  unsigned family, model;
};
/// Decodes ebx of cpuid leaf 0 and eax of leaf 1.
Processor processor_of(unsigned vendor, unsigned signature) noexcept;

/// The memory hints that were measured to be fast on the processor, or on the latest measured
/// processor of its vendor. A processor of another vendor has no hints.
struct MemoryHints {
  unsigned prefetching, streaming;
  int prefetching_level;  // loops prefetch arrays larger than the cache of this level (1 or 2)
};
MemoryHints memory_hints_of(const Processor& processor) noexcept;
/// Returns the least size of a loop that uses non-temporal stores [bytes]. `third_cache` is the
/// size of the third-level cache [bytes].
size_t streaming_bytes_of(const Processor& processor, size_t third_cache) noexcept;

// Returns the object of machine(), which tests may change. `cached_machine` points to the same
// object after the first call.
Machine& chosen_machine() noexcept;
KERNKIT_LOCAL inline const Machine* cached_machine = nullptr;
Machine find_machine() noexcept;
}  // namespace detail

}  // namespace kernkit::cpu

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/machine.h"
#endif
