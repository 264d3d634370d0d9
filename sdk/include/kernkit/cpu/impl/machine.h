// SPDX-License-Identifier: Apache-2.0
// What processor and system say that they can do, and the rules that were found by measurement.
#pragma once

#include <fcntl.h>
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
  // Not by __builtin_cpu_supports(), which costs a library 6 KB.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return InstructionSet::kBaseline;
  if ((ecx & bit_F16C) == 0 || (ecx & bit_OSXSAVE) == 0) return InstructionSet::kBaseline;
  // The registers that the system saves: 0x6 is xmm and ymm, 0xe0 the masks and zmm.
  unsigned saved = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(edx) : "c"(0));
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return InstructionSet::kBaseline;
  constexpr unsigned kAllOf512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  if ((saved & 0x6) != 0x6 || (ebx & bit_AVX2) == 0) return InstructionSet::kBaseline;
  const bool avx512 = (saved & 0xe6) == 0xe6 && (ebx & kAllOf512) == kAllOf512;
  return avx512 ? InstructionSet::kAvx512 : InstructionSet::kAvx2;
#else
  return InstructionSet::kBaseline;
#endif
}

KERNKIT_COLD InstructionSet wanted_instruction_set() noexcept {
  const InstructionSet best = best_instruction_set();
  const char* name = getenv("KERNKIT_INSTRUCTION_SET");
  if (name == nullptr) return best;
  if (strcmp(name, "baseline") == 0) return InstructionSet::kBaseline;
  return strcmp(name, "avx2") == 0 && best > InstructionSet::kAvx2 ? InstructionSet::kAvx2 : best;
}

// Intel's servers from Skylake to Cascade Lake, family 6, model 85, where a core holds too few of
// these stores in flight. scale in float32, streamed against not, one thread:
//   Cascade Lake, 36 MiB last-level cache: 0.7 at 32 MiB in all, 0.8 at 1 GiB
//   another Xeon, 2.6 GHz:                 0.7 at 2 MiB, 0.9 at 32 MiB, 1.6 at 1 GiB
//   EPYC, Zen 5, 32 MiB:                   0.9 at 8 MiB, 1.3 at 32 MiB, 1.4 at 1 GiB
// so they win once the data exceeds the last-level cache, or nowhere. (The latter two were measured
// before loops asked for lines to write.)
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

// Of one cache of this level, as the first processor sees it. The C library may count the caches of
// a whole AMD package together.
KERNKIT_COLD size_t cache_bytes(int level, size_t otherwise) noexcept {
  char path[] = "/sys/devices/system/cpu/cpu0/cache/index0/size";
  path[sizeof(path) - sizeof("0/size")] = static_cast<char>('0' + level);  // 0 and 1: the first
  char text[32] = {};
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (read(file, text, sizeof(text) - 1) < 0) text[0] = '\0';
    close(file);
  }
  char* unit = nullptr;
  const size_t number = strtoul(text, &unit, 10);
  if (number == 0) return otherwise;
  return number << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
}

// A thread that sleeps needs some 50 us to come. Two threads on Cascade Lake: 1.0 times as fast at
// 1 MiB in all, 1.5 at 2 MiB, 1.7 at 8 MiB, 1.9 at 32 MiB and more; with another program on one of
// the two processors 0.8, 0.94, 0.98 and 1.0.
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
