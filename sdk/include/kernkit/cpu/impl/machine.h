// SPDX-License-Identifier: Apache-2.0
// What processor and system say that they can do, and the rules that were found by measurement.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernkit/cpu/machine.h"

#if KERNKIT_INSTRUCTION_SETS > 1
#include <cpuid.h>
#endif

namespace kernkit::cpu::detail {

KERNKIT_COLD InstructionSet best_instruction_set() noexcept {
#if KERNKIT_INSTRUCTION_SETS > 1
  // These ask the system as well, which must save the registers. clang 14 does not know "f16c".
  __builtin_cpu_init();
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool f16c = __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  if (f16c && __builtin_cpu_supports("avx2")) {
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
  }
#endif
  return InstructionSet::kBaseline;
}

KERNKIT_COLD InstructionSet wanted_instruction_set() noexcept {
  const InstructionSet best = best_instruction_set();
  const char* name = getenv("KERNKIT_INSTRUCTION_SET");
  if (name == nullptr) return best;
  if (strcmp(name, "baseline") == 0) return InstructionSet::kBaseline;
  return strcmp(name, "avx2") == 0 && best > InstructionSet::kAvx2 ? InstructionSet::kAvx2 : best;
}

// Intel's servers from Skylake to Cascade Lake, family 6, model 85.
KERNKIT_COLD bool streams_slowly() noexcept {
#if KERNKIT_INSTRUCTION_SETS > 1
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0 || ebx != signature_INTEL_ebx) return false;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
  const unsigned family = (eax >> 8) & 0xfu;
  const unsigned model = ((eax >> 4) & 0xfu) | ((eax >> 12) & 0xf0u);
  return family == 6 && model == 85;
#else
  return false;
#endif
}

#if defined(_SC_LEVEL3_CACHE_SIZE)
KERNKIT_COLD size_t cache_bytes(int level, size_t otherwise) noexcept {
  const long bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : otherwise;
}
#else
KERNKIT_COLD size_t cache_bytes(int, size_t otherwise) noexcept { return otherwise; }
#endif

// A thread that sleeps needs some 50 us to come.
inline constexpr size_t kThreadingBytes = size_t{4} << 20;

KERNKIT_COLD Machine find_machine() noexcept {
  Machine machine{wanted_instruction_set(), cache_bytes(2, size_t{1} << 20), SIZE_MAX,
                  kThreadingBytes};
#if defined(__x86_64__)
  if (!streams_slowly()) machine.streaming_bytes = cache_bytes(3, size_t{32} << 20);
#endif
  return machine;
}

KERNKIT_COLD Machine& chosen_machine() noexcept {
  static Machine chosen = find_machine();
  return chosen;
}

}  // namespace kernkit::cpu::detail

namespace kernkit::cpu {

KERNKIT_COLD const Machine& machine() noexcept { return detail::chosen_machine(); }

}  // namespace kernkit::cpu
