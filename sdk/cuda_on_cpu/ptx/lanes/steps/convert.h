// SPDX-License-Identifier: Apache-2.0
// The usual forms of cvt on 32 lanes.
#pragma once

#include "ptx/lanes/half.h"
#include "ptx/lanes/lanes.h"

namespace kernkit::cuda_on_cpu::ptx {
inline namespace KERNKIT_PTX_WAY {
namespace convert_steps {

template <class D>
struct To {
  template <class S>
  static D of(S a) {
    return static_cast<D>(a);
  }
};
template <class H>
struct Widen {
  static float of(H a) { return canonical(a.value()); }
};
template <class H>
struct Narrow {
  static H of(float a) { return H::from(a); }
};

// cvt.rn.f16x2.f32 d, a, b: a is the upper half.
template <class H, bool kRelu>
void narrow_two(Warp& warp, const Operation& operation) {
  const float *a = warp.lanes<float>(operation.a), *b = warp.lanes<float>(operation.b);
  auto* d = warp.results<uint32_t>(operation.to);
  const auto half = [](float x) {
    return uint32_t{H::from(kRelu && !(x > 0) && x == x ? 0.0f : x).bits};
  };
  each_lane([&](int l) { d[l] = half(a[l]) << 16 | half(b[l]); });
  warp.keep<uint32_t>(operation.to);
}

}  // namespace convert_steps
}  // namespace KERNKIT_PTX_WAY
}  // namespace kernkit::cuda_on_cpu::ptx
