// SPDX-License-Identifier: Apache-2.0
// Half and BHalf: .f16 and .bf16 in registers. from() rounds a float to the nearest number, ties to
// even; a NaN becomes 0x7fff. half.h has the arithmetic.
#pragma once

#include "kernkit/float.h"
#include "ptx/simd/real_formats.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {

struct Half {
  uint16_t bits;
  static Half from(float x) {
    return {static_cast<uint16_t>(x != x ? 0x7fffu : kernkit::detail::float_to_float16(x))};
  }
  float value() const { return kernkit::detail::float16_to_float(bits); }
};

struct BHalf {
  uint16_t bits;
  static BHalf from(float x) {
    return {static_cast<uint16_t>(x != x ? 0x7fffu : kernkit::detail::float_to_bfloat16(x))};
  }
  float value() const { return kernkit::detail::bfloat16_to_float(bits); }
};

}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
