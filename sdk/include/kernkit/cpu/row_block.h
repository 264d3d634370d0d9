// SPDX-License-Identifier: Apache-2.0
// Blocks of a row: inputs, the partial block at the end, and float16 converted to float.
#pragma once

#include <string.h>

#include "kernkit/cpu/reduced_blocks.h"
#include "kernkit/float.h"

namespace kernkit::cpu::detail {

// Vectors of float16 and of float that fill one register of an instruction set. If the halves of a
// wide register were stored separately, a load of the whole register would wait about 20 cycles for
// the stores, and a layer norm would take 1.4 times as long (AMD, family 25, model 17).
#if KERNKIT_INSTRUCTION_SETS > 1
template <InstructionSet kSet>
struct HalfVector {
  using HalvesAt = Halves;
  using FloatsOf = Floats;
  static constexpr int kCount = 8;
};
template <>
struct HalfVector<InstructionSet::kAvx512> {
  using HalvesAt = uint16_t __attribute__((vector_size(32), aligned(2), may_alias));
  using FloatsOf = float __attribute__((vector_size(64)));
  static constexpr int kCount = 16;
};
#endif

// With optimisation, g++ inlines these functions into a function with a target attribute; the asm
// then writes a register, because g++ would keep sums in memory around an asm that writes memory.
// clang++, and g++ without optimisation, compile these functions without the target attribute, so
// that a wide register cannot be an operand; the asm then writes memory.
template <InstructionSet kSet, class T>
KERNKIT_INLINE void widen_halves([[maybe_unused]] float (&to)[kBlock],
                                 [[maybe_unused]] const T* from) {
#if KERNKIT_INSTRUCTION_SETS == 1
#elif defined(__clang__) || !defined(__OPTIMIZE__)
  for (int i = 0; i < kBlock; i += 8) {
    asm("vcvtph2ps %1, %%ymm0\n\tvmovups %%ymm0, %0"
        : "=m"(*reinterpret_cast<Bytes<32>*>(to + i))
        : "m"(*reinterpret_cast<const Bytes<16>*>(from + i))
        : "xmm0");
  }
#else
  using Vector = HalfVector<kSet>;
  for (int i = 0; i < kBlock; i += Vector::kCount) {
    typename Vector::FloatsOf floats;
    asm("vcvtph2ps %1, %0"
        : "=v"(floats)
        : "m"(*reinterpret_cast<const typename Vector::HalvesAt*>(from + i)));
    memcpy(to + i, &floats, sizeof(floats));
  }
#endif
}
template <InstructionSet kSet, class T>
KERNKIT_INLINE void narrow_to_halves([[maybe_unused]] T* to,
                                     [[maybe_unused]] const float (&from)[kBlock]) {
#if KERNKIT_INSTRUCTION_SETS == 1
#elif defined(__clang__) || !defined(__OPTIMIZE__)
  for (int i = 0; i < kBlock; i += 8) {  // $0: rounds to nearest even
    asm("vmovups %1, %%ymm0\n\tvcvtps2ph $0, %%ymm0, %%xmm0\n\tvmovups %%xmm0, %0"
        : "=m"(*reinterpret_cast<Bytes<16>*>(to + i))
        : "m"(*reinterpret_cast<const Bytes<32>*>(from + i))
        : "xmm0");
  }
#else
  using Vector = HalfVector<kSet>;
  for (int i = 0; i < kBlock; i += Vector::kCount) {
    typename Vector::HalvesAt halves;
    typename Vector::FloatsOf floats;
    memcpy(&floats, from + i, sizeof(floats));
    asm("vcvtps2ph $0, %1, %0" : "=v"(halves) : "v"(floats));
    memcpy(to + i, &halves, sizeof(halves));
  }
#endif
}

// One block of an input: a pointer to its elements, or float16 widened to float.
template <InstructionSet kSet, bool kWiden, class T>
struct BlockOf {
  const T* at;
  KERNKIT_INLINE explicit BlockOf(const T* from) : at(from) {}
};
template <InstructionSet kSet>
struct BlockOf<kSet, true, float16> {
  float at[kBlock];
  KERNKIT_INLINE explicit BlockOf(const float16* from) { widen_halves<kSet>(at, from); }
};

/// The last block of a row of d elements; it may overlap the previous block. A row shorter than a
/// block is copied to the end of a block whose first elements repeat the row's first element.
template <class T>
struct LastBlock {
  T part[kBlock];
  KERNKIT_INLINE LastBlock() {}  // not defaulted: LastBlock() would then set `part` to 0
  KERNKIT_INLINE const T* pointer(const T* in, int64_t d) {
    if (__builtin_expect(d >= kBlock, 1)) return in + d - kBlock;
    return short_row(in, d);
  }
  /// Returns `in`, or, for a row shorter than a block, the address of a copy of the row.
  KERNKIT_INLINE const T* row(const T* in, int64_t d) {
    if (__builtin_expect(d >= kBlock, 1)) return in;
    return short_row(in, d);
  }

 private:
  // Not inlined, so that all instruction sets share one copy of the code.
  __attribute__((noinline)) KERNKIT_LOCAL const T* short_row(const T* in, int64_t d) {
    for (int64_t i = 0, first = kBlock - d; d > 0 && i < kBlock; ++i) {
      part[i] = in[i < first ? 0 : i - first];
      asm volatile("");  // prevents vectorisation
    }
    return part;
  }
};

/// Results of a row's last block. The block is computed first and stored last, because the row may
/// be written in place.
template <class T>
struct LastResult {
  T at[kBlock];
  KERNKIT_INLINE void store(T* out, int64_t d) const {
    if (__builtin_expect(d >= kBlock, 1)) {
      memcpy(out + d - kBlock, at, sizeof(at));
    } else {
      memcpy(out, at + kBlock - d, static_cast<size_t>(d) * sizeof(T));
    }
  }
};

}  // namespace kernkit::cpu::detail
