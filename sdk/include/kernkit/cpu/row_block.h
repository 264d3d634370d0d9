// SPDX-License-Identifier: Apache-2.0
// A block of a row's elements: whole, or what is left at its end; float16 as float.
#pragma once

#include <string.h>

#include "kernkit/cpu/half_loop.h"
#include "kernkit/float.h"

namespace kernkit::cpu::detail {

// float16 by F16C, eight at a time. g++ takes registers, and keeps sums in memory around an asm
// that writes there. No wide register is in a function whose target is not named: clang++ has such
// ones, and g++ where it does not optimise.
template <class T>
KERNKIT_INLINE void widen_halves([[maybe_unused]] float (&to)[kBlock],
                                 [[maybe_unused]] const T* from) {
#if KERNKIT_INSTRUCTION_SETS > 1
  for (int i = 0; i < kBlock; i += 8) {
#if defined(__clang__) || !defined(__OPTIMIZE__)
    asm("vcvtph2ps %1, %%ymm0\n\tvmovups %%ymm0, %0"
        : "=m"(*reinterpret_cast<Bytes<32>*>(to + i))
        : "m"(*reinterpret_cast<const Bytes<16>*>(from + i))
        : "xmm0");
#else
    Floats floats;
    asm("vcvtph2ps %1, %0" : "=x"(floats) : "m"(*reinterpret_cast<const Halves*>(from + i)));
    memcpy(to + i, &floats, sizeof(floats));
#endif
  }
#endif
}
template <class T>
KERNKIT_INLINE void narrow_to_halves([[maybe_unused]] T* to,
                                     [[maybe_unused]] const float (&from)[kBlock]) {
#if KERNKIT_INSTRUCTION_SETS > 1
  for (int i = 0; i < kBlock; i += 8) {  // 0: to nearest even
#if defined(__clang__) || !defined(__OPTIMIZE__)
    asm("vmovups %1, %%ymm0\n\tvcvtps2ph $0, %%ymm0, %%xmm0\n\tvmovups %%xmm0, %0"
        : "=m"(*reinterpret_cast<Bytes<16>*>(to + i))
        : "m"(*reinterpret_cast<const Bytes<32>*>(from + i))
        : "xmm0");
#else
    Halves halves;
    Floats floats;
    memcpy(&floats, from + i, sizeof(floats));
    asm("vcvtps2ph $0, %1, %0" : "=x"(halves) : "x"(floats));
    memcpy(to + i, &halves, sizeof(halves));
#endif
  }
#endif
}

// A block of an input as it is, or widened.
template <bool kWiden, class T>
struct BlockOf {
  const T* at;
  KERNKIT_INLINE explicit BlockOf(const T* from) : at(from) {}
};
template <>
struct BlockOf<true, float16> {
  float at[kBlock];
  KERNKIT_INLINE explicit BlockOf(const float16* from) { widen_halves(at, from); }
};

/// The last block of a row of d elements, which may overlap the one before. Of a shorter row, its
/// elements at the end of a block whose rest repeats the first one.
template <class T>
struct LastBlock {
  T part[kBlock];
  KERNKIT_INLINE LastBlock() {}  // leaves it uninitialised, also where it is LastBlock()
  KERNKIT_INLINE const T* of(const T* in, int64_t d) {
    if (__builtin_expect(d >= kBlock, 1)) return in + d - kBlock;
    for (int64_t i = 0, first = kBlock - d; i < kBlock; ++i) {
      part[i] = in[i < first ? 0 : i - first];
      asm volatile("");  // not vectorised
    }
    return part;
  }
};

/// What an op makes of the last block: computed first, since the row may be written in place, and
/// stored last.
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
