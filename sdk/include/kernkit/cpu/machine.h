// SPDX-License-Identifier: Apache-2.0
// What CPU loops ask of the machine that runs them: its instructions and its caches.
#pragma once

#include <stddef.h>

#include "kernkit/base/cold.h"

// Code for more than the compiler was told to use is made for x86-64 only, by g++ and clang++.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define KERNKIT_INSTRUCTION_SETS 4
#else
#define KERNKIT_INSTRUCTION_SETS 1
#endif

namespace kernkit::cpu {

enum class InstructionSet {
  kBaseline,  // what the compiler was told to use: SSE2 in a generic x86-64 build
  kAvx2,      // with F16C
  kAvx512,    // F, BW, DQ and VL, with all of kAvx2
  kAvx512Bf16,
};

/// How a loop moves its arrays between itself and memory. No result depends on it.
enum Way : unsigned {
  kAskForInputs = 1,  // ahead of time
  kAskForOutput = 2,  // ahead of time, in order to write it, which no processor does by itself
  kPastCaches = 4,    // stores do not read the lines that they fill, nor keep them
  kByPages = 8,       // past the caches, in turns between pages
  kHalfWidth = 16,    // registers of 32 bytes at most, for an op that takes less time than memory
};

/// Sizes count the bytes that a loop reads and writes, all its arrays together.
struct Machine {
  InstructionSet instruction_set;
  unsigned asking;     // ways of loops over asking_bytes or more: what they ask for
  unsigned streaming;  // ways of loops over streaming_bytes or more, unless in place
  size_t asking_bytes;
  size_t streaming_bytes;
  size_t threading_bytes;  // from here on threads() share the work
};

/// The machine that this is. The environment variable KERNKIT_INSTRUCTION_SET, read once, limits it
/// to "baseline", "avx2" or "avx512": results do not depend on it, except for which NaN a NaN is.
const Machine& machine() noexcept;

namespace detail {

/// The best set of a processor with F16C by the registers that the system saves (xgetbv), and by
/// leaf 7 of cpuid: the second register of its subleaf 0, the first of its subleaf 1. On x86 only.
InstructionSet instruction_set_of(unsigned saved, unsigned features, unsigned more) noexcept;

/// As the processor names itself.
struct Processor {
  enum Vendor { kOther, kIntel, kAmd } vendor;
  unsigned family, model;
};
/// Of cpuid: the second register of leaf 0, the first of leaf 1.
Processor processor_of(unsigned vendor, unsigned signature) noexcept;

/// The ways that were measured to be fast on a processor, or on its vendor's; the plain loop for
/// other vendors.
struct Ways {
  unsigned asking, streaming;
  int asking_level;  // of the cache that the arrays exceed where a loop asks for them: 1 or 2
};
Ways ways_of(const Processor& processor) noexcept;
/// From so many bytes of all arrays on a loop streams. `third_cache`: bytes.
size_t streaming_bytes_of(const Processor& processor, size_t third_cache) noexcept;

// The same, to be changed by tests; and where it is, from the first such call on.
Machine& chosen_machine() noexcept;
KERNKIT_LOCAL inline const Machine* known_machine = nullptr;
Machine find_machine() noexcept;
}  // namespace detail

}  // namespace kernkit::cpu

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/machine.h"
#endif
