// SPDX-License-Identifier: Apache-2.0
// Common forms of cvt on 32 lanes.
#pragma once

#include "ptx/simd/half_formats.h"
#include "ptx/simd/lanes.h"

namespace kernkit::simulator::ptx {
inline namespace KERNKIT_PTX_TARGET {
namespace convert_steps {

template <class D>
struct To {
  template <class S>
  static D apply(S a) {
    return static_cast<D>(a);
  }
};
template <class H>
struct Widen {
  static float apply(H a) { return canonical(a.value()); }
};
template <class H>
struct Narrow {
  static H apply(float a) { return H::from(a); }
};

// The rounding of a float to TF32, which is a float whose lower 13 bits are 0.
enum class TF32Rounding { kNearestAway, kNearestEven, kZero };
// Converts a float to TF32. kRelu: a negative number becomes +0. kFinite: an infinity becomes the
// largest finite number of the same sign.
template <TF32Rounding kRounding, bool kRelu = false, bool kFinite = false>
struct ToTF32 {
  static uint32_t apply(float a) {
    constexpr uint32_t kLower = 0x1fff, kInfinity = 0x7f800000, kSign = 0x80000000;
    if (a != a) return 0x7fffffff;
    if (kRelu && !(a > 0)) return 0;
    const uint32_t rounded_bits = rounded(bit_cast<uint32_t>(a));
    const bool is_infinite = (rounded_bits & ~kSign) == kInfinity;
    return kFinite && is_infinite ? rounded_bits - kLower - 1 : rounded_bits;
  }

 private:
  static uint32_t rounded(uint32_t bits) {
    constexpr uint32_t kLower = 0x1fff;
    if (kRounding == TF32Rounding::kNearestAway) bits += (kLower + 1) / 2;
    if (kRounding == TF32Rounding::kNearestEven) bits += kLower / 2 + (bits >> 13 & 1);
    return bits & ~kLower;
  }
};

// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half of d, b the lower half.
template <class H, bool kRelu>
void narrow_two(Warp& warp, const Operation& operation) {
  const uint32_t sources[] = {operation.src0, operation.src1};
  alignas(64) uint32_t halves[2][32];
  for (int k = 0; k < 2; ++k) {
    const float* x = warp.lanes<float>(sources[k]);
    each_lane([&](int l) {
      halves[k][l] = H::from(kRelu && !(x[l] > 0) && x[l] == x[l] ? 0.0f : x[l]).bits;
    });
  }
  auto* d = warp.results<uint32_t>(operation.dst);
  each_lane([&](int l) { d[l] = halves[0][l] << 16 | halves[1][l]; });
  warp.keep<uint32_t>(operation.dst);
}

}  // namespace convert_steps
}  // namespace KERNKIT_PTX_TARGET
}  // namespace kernkit::simulator::ptx
