// SPDX-License-Identifier: Apache-2.0
// A block of a row's elements: whole, or what is left at its end; float16 as float.
#pragma once

#include <string.h>

#include "kernkit/cpu/traffic.h"
#include "kernkit/float.h"

namespace kernkit::cpu::detail {

// float16 by F16C, eight at a time. Through memory, so that no function's target must be named.
template <class T>
KERNKIT_INLINE void widen_halves([[maybe_unused]] float (&to)[kBlock],
                                 [[maybe_unused]] const T* from) {
#if KERNKIT_INSTRUCTION_SETS > 1
  auto* const in = reinterpret_cast<const Bytes<16>*>(from);
  auto* const out = reinterpret_cast<Bytes<32>*>(to);
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock / 8; ++i) {
    asm("vcvtph2ps %1, %%ymm0\n\tvmovups %%ymm0, %0" : "=m"(out[i]) : "m"(in[i]) : "xmm0");
  }
#endif
}
template <class T>
KERNKIT_INLINE void narrow_to_halves([[maybe_unused]] T* to,
                                     [[maybe_unused]] const float (&from)[kBlock]) {
#if KERNKIT_INSTRUCTION_SETS > 1
  auto* const in = reinterpret_cast<const Bytes<32>*>(from);
  auto* const out = reinterpret_cast<Bytes<16>*>(to);
  KERNKIT_UNROLLED
  for (int i = 0; i < kBlock / 8; ++i) {  // 0: to nearest even
    asm("vmovups %1, %%ymm0\n\tvcvtps2ph $0, %%ymm0, %0" : "=m"(out[i]) : "m"(in[i]) : "xmm0");
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

/// What there is of a block at the end of a row; the rest repeats its first element.
template <class T>
struct PartOfBlock {
  T at[kBlock];
  PartOfBlock() = default;
  KERNKIT_INLINE PartOfBlock(const T* from, int64_t count) {
    memcpy(at, from, static_cast<size_t>(count) * sizeof(T));
    for (int64_t i = count; i < kBlock; ++i) at[i] = at[0];
  }
};

}  // namespace kernkit::cpu::detail
