// SPDX-License-Identifier: Apache-2.0
#include "scale/scale.h"

#include "harness/copies.h"
#include "kernkit/cpu/elementwise.h"
#include "peers/peers.h"

namespace kernkit::bench {
namespace {

constexpr float kFactor = 2;

template <class T>
void add_scale() {
  const kernels::Scale<T> op{kFactor};
  add_rows<T, 1>("scale", "kernkit", op, [](int64_t n, T* y_data, const T* x_data) {
    return [y = Borrowed<T>(y_data, n), x = Borrowed<T>(x_data, n)] {
      kernels::scale(y.view("y"), x.view("x"), kFactor);
    };
  });
  add_rows<T, 1>("scale", "kernkit-loop", op,
                 [op](int64_t n, T* y, const T* x) { cpu::elementwise(n, op, y, x); });
  add_rows<T, 1>("scale", "plain-loop", op,
                 [op](int64_t n, T* y, const T* x) { plain_loop(op, n, y, x); });
#if KERNKIT_BENCH_EIGEN
  if constexpr (!std::is_same_v<T, double>) {
    add_rows<T, 1>("scale", "eigen", op,
                   [](int64_t n, T* y, const T* x) { eigen_scale(n, y, x, kFactor); });
  }
#endif
#if KERNKIT_BENCH_HIGHWAY
  if constexpr (std::is_same_v<T, float>) {
    add_rows<T, 1>("scale", "highway", op,
                   [](int64_t n, T* y, const T* x) { highway_scale(n, y, x, kFactor); });
  }
#endif
}

[[maybe_unused]] const bool registered = [] {
  add_scale<float>();
  add_scale<double>();
  add_scale<float16>();
  add_scale<bfloat16>();
  add_missing_peers();
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
