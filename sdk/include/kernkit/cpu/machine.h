// SPDX-License-Identifier: Apache-2.0
// What CPU loops ask of the machine that runs them: its instructions and its caches.
#pragma once

#include <stddef.h>

#include "kernkit/cold.h"

// Code for more than the compiler was told to use is made for x86-64 only, by g++ and clang++.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define KERNKIT_INSTRUCTION_SETS 3
#else
#define KERNKIT_INSTRUCTION_SETS 1
#endif

namespace kernkit::cpu {

enum class InstructionSet {
  kBaseline,  // what the compiler was told to use: SSE2 in a generic x86-64 build
  kAvx2,      // with F16C
  kAvx512,    // F, BW, DQ and VL, with all of kAvx2
};

/// Sizes count the bytes that a loop reads and writes, all its arrays together.
struct Machine {
  InstructionSet instruction_set;
  size_t prefetch_bytes;   // from here on loops ask for memory ahead of time
  size_t streaming_bytes;  // from here on results go past the caches; SIZE_MAX: never
  size_t threading_bytes;  // from here on threads() share the work
};

/// The machine that this is. The environment variable KERNKIT_INSTRUCTION_SET, read once, limits it
/// to "baseline" or "avx2": results do not depend on it, except for which NaN a NaN is.
const Machine& machine() noexcept;

namespace detail {
// The same, to be changed by tests.
Machine& chosen_machine() noexcept;
Machine find_machine() noexcept;
}  // namespace detail

}  // namespace kernkit::cpu

#if !defined(KERNKIT_COMPILED)
#include "kernkit/cpu/impl/machine.h"
#endif
