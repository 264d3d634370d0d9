// SPDX-License-Identifier: Apache-2.0
// Queries of the processor and the operating system, and thresholds found by measurement.
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

#if KERNKIT_INSTRUCTION_SETS > 1
KERNKIT_COLD InstructionSet instruction_set_of(unsigned saved, unsigned features,
                                               unsigned more) noexcept {
  // Bits of `saved`: 0x6 for the registers xmm and ymm, 0xe0 for the mask registers and zmm.
  constexpr unsigned kAllOf512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  if ((saved & 0x6) != 0x6 || (features & bit_AVX2) == 0) return InstructionSet::kBaseline;
  if ((saved & 0xe6) != 0xe6 || (features & kAllOf512) != kAllOf512) return InstructionSet::kAvx2;
  return (more & bit_AVX512BF16) != 0 ? InstructionSet::kAvx512Bf16 : InstructionSet::kAvx512;
}
#endif

KERNKIT_COLD InstructionSet best_instruction_set() noexcept {
#if KERNKIT_INSTRUCTION_SETS > 1
  // Calls cpuid directly, because __builtin_cpu_supports() would add 6 KB to a library.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return InstructionSet::kBaseline;
  if ((ecx & bit_F16C) == 0 || (ecx & bit_OSXSAVE) == 0) return InstructionSet::kBaseline;
  unsigned saved = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(edx) : "c"(0));
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return InstructionSet::kBaseline;
  const unsigned features = ebx;
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) == 0) eax = 0;
  return instruction_set_of(saved, features, eax);
#else
  return InstructionSet::kBaseline;
#endif
}

KERNKIT_COLD InstructionSet requested_instruction_set() noexcept {
  const char* const names[] = {"baseline", "avx2", "avx512"};
  const char* const requested = getenv("KERNKIT_INSTRUCTION_SET");
  int set = 0, best = static_cast<int>(best_instruction_set());
  while (set < best && (requested == nullptr || strcmp(requested, names[set]) != 0)) ++set;
  return static_cast<InstructionSet>(set);
}

KERNKIT_COLD Processor processor_of(unsigned vendor, unsigned signature) noexcept {
  constexpr unsigned kGenu = 0x756e6547, kAuth = 0x68747541;  // "GenuineIntel", "AuthenticAMD"
  const unsigned family = (signature >> 8) & 0xfu;
  const unsigned model = (signature >> 4) & 0xfu, more = (signature >> 12) & 0xf0u;
  return {vendor == kGenu   ? Processor::kIntel
          : vendor == kAuth ? Processor::kAmd
                            : Processor::kOther,
          family == 15 ? family + ((signature >> 20) & 0xffu) : family,
          family == 6 || family == 15 ? model | more : model};
}

KERNKIT_COLD Processor this_processor() noexcept {
#if KERNKIT_INSTRUCTION_SETS > 1
  unsigned eax = 0, vendor = 0, ecx = 0, edx = 0, ebx = 0;
  if (__get_cpuid(0, &eax, &vendor, &ecx, &edx) != 0 &&
      __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) {
    return processor_of(vendor, eax);
  }
#endif
  return {Processor::kOther, 0, 0};
}

// Measured on one thread, as multiples of the speed of a loop without hints:
//   Intel, family 6, model 85 (Cascade Lake; third-level cache 36 MiB): for arrays larger than the
//     caches, a loop that prefetches the output has 1.1 times the speed of the best copy without
//     prefetches. Non-temporal stores: 0.7 for arrays of 32 MiB in total, 0.8 for 1 GiB, since a
//     core has too few of these stores in flight.
//   Intel, family 6, model 167 (second-level cache 2 MiB, third-level cache 480 MiB): interleaved
//     non-temporal stores: 1.4 for 64 MiB in total, 1.7 from 128 MiB on, with a factor of 1.2 to
//     1.35 from interleaving for 512 MiB; 0.4 for 32 MiB if a cache holds the modified output.
//     Prefetching the output: 1.05 to 1.1 from 96 KiB to 2 MiB, 0.65 for arrays in the first-level
//     cache, and 1.0 for arrays larger than the second-level cache.
//   AMD, family 25, model 1 (third-level cache 32 MiB): non-temporal stores: 1.25 to 1.5 from
//     32 MiB on, with a factor of 1.0 to 1.2 from prefetching the inputs. Prefetching inputs and
//     output of arrays in the caches: 1.1 for 16-bit floats, 1.0 for other types.
//   AMD, family 25, model 17 (third-level cache 32 MiB): non-temporal stores: 1.5 to 1.7 from
//     32 MiB on. Prefetching the output: 0.7 to 0.85, even for arrays in the caches.
// A processor that is not listed uses the hints of its vendor's latest processor in this list: with
// non-temporal stores, a copy moves two thirds of the bytes on every processor.
KERNKIT_COLD MemoryHints memory_hints_of(const Processor& processor) noexcept {
  constexpr unsigned kAny = ~0u;
  constexpr unsigned kPrefetchBoth = kPrefetchInputs | kPrefetchOutput;
  const struct {
    Processor processor;
    MemoryHints hints;
  } table[] = {
      {{Processor::kIntel, 6, 85}, {kPrefetchBoth, kPrefetchBoth, 2}},
      {{Processor::kIntel, kAny, kAny},
       {kPrefetchOutput | kHalfWidth, kPrefetchInputs | kNonTemporal | kInterleavePages, 1}},
      {{Processor::kAmd, 25, 1}, {kPrefetchBoth, kPrefetchInputs | kNonTemporal, 2}},
      {{Processor::kAmd, kAny, kAny}, {0, kNonTemporal, 2}},
  };
  for (const auto& row : table) {
    const Processor& pattern = row.processor;
    if (pattern.vendor == processor.vendor &&
        (pattern.family == kAny || pattern.family == processor.family) &&
        (pattern.model == kAny || pattern.model == processor.model)) {
      return row.hints;
    }
  }
  return {0, 0, 2};
}

// Size of one cache of this level (level 1: the data cache) according to the first processor
// [bytes], or `otherwise` if the size is unknown. Read from /sys, because the C library may return
// the sum of the caches of a whole AMD package.
KERNKIT_COLD size_t cache_bytes(int level, size_t otherwise) noexcept {
  char path[] = "/sys/devices/system/cpu/cpu0/cache/index0/size";
  path[sizeof(path) - sizeof("0/size")] = static_cast<char>(level == 1 ? '0' : '0' + level);
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

// A sleeping thread needs about 50 us to start. Speed of two threads on Cascade Lake, as a multiple
// of one thread's speed: 1.0 for arrays of 1 MiB in total, 1.5 for 2 MiB, 1.7 for 8 MiB, and 1.9
// for 32 MiB and more. If another program runs on one of the two processors: 0.8, 0.94, 0.98 and
// 1.0.
inline constexpr size_t kThreadingBytes = size_t{4} << 20;

// An AMD processor shares its third-level cache with few processors. An Intel server shares the
// cache among all processors, and among the virtual machines on them: on model 167, which reports
// 480 MiB, the loop without hints has 0.7 times the speed of the fastest loop for arrays of 40 to
// 64 MiB in total, and 0.55 to 0.65 times for larger arrays.
KERNKIT_COLD size_t streaming_bytes_of(const Processor& processor, size_t third_cache) noexcept {
  constexpr size_t kMostOfIntel = size_t{64} << 20;
  const bool limited = processor.vendor == Processor::kIntel && third_cache > kMostOfIntel;
  return limited ? kMostOfIntel : third_cache;
}

KERNKIT_COLD Machine find_machine() noexcept {
  const Processor processor = this_processor();
  const MemoryHints hints = memory_hints_of(processor);
  // If the arrays have up to twice the size of the first-level cache, a part of them is in that
  // cache.
  const size_t first_cache = cache_bytes(1, size_t{32} << 10);
  return {requested_instruction_set(),
          hints.prefetching,
          hints.streaming,
          hints.prefetching_level == 1 ? 2 * first_cache : cache_bytes(2, size_t{1} << 20),
          streaming_bytes_of(processor, cache_bytes(3, size_t{32} << 20)),
          kThreadingBytes};
}

KERNKIT_COLD Machine& chosen_machine() noexcept {
  static Machine chosen = find_machine();
  __atomic_store_n(&cached_machine, &chosen, __ATOMIC_RELEASE);
  return chosen;
}

}  // namespace kernkit::cpu::detail

namespace kernkit::cpu {

KERNKIT_COLD const Machine& machine() noexcept { return detail::chosen_machine(); }

}  // namespace kernkit::cpu
