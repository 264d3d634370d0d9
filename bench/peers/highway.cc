// SPDX-License-Identifier: Apache-2.0
// Highway compiles this file once for each instruction set and selects one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway.cc"
#include <hwy/foreach_target.h>
// Highway requires this include after foreach_target.h.
#include <hwy/highway.h>

#include "peers.h"

HWY_BEFORE_NAMESPACE();
namespace kernkit::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void scale(int64_t n, float* y, const float* x, float factor) {
  const hn::ScalableTag<float> d;
  const auto by = hn::Set(d, factor);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), by), d, y + i);
  for (; i < n; ++i) y[i] = x[i] * factor;
}

void add(int64_t n, float* z, const float* x, const float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, z + i);
  }
  for (; i < n; ++i) z[i] = x[i] + y[i];
}

}  // namespace kernkit::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernkit::bench {

HWY_EXPORT(scale);
HWY_EXPORT(add);

void highway_scale(int64_t n, float* y, const float* x, float factor) {
  HWY_DYNAMIC_DISPATCH(scale)(n, y, x, factor);
}
void highway_add(int64_t n, float* z, const float* x, const float* y) {
  HWY_DYNAMIC_DISPATCH(add)(n, z, x, y);
}

}  // namespace kernkit::bench
#endif
