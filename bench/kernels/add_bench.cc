// SPDX-License-Identifier: Apache-2.0
#include "add/add.h"

#include "harness/copies.h"
#include "peers/peers.h"

namespace kernkit::bench {
namespace {

template <class T>
void add_add() {
  const kernels::Add<T> op{};
  // [rows]
  add_rows<T, 2>("add", "kernkit", op, [](int64_t n, T* z_data, const T* x_data, const T* y_data) {
    return [z = Borrowed<T>(z_data, n), x = Borrowed<T>(x_data, n), y = Borrowed<T>(y_data, n)] {
      kernels::add(z.view("z"), x.view("x"), y.view("y"));
    };
  });
  // [/rows]
  if constexpr (std::is_integral_v<T>) return;
  add_rows<T, 2>("add", "plain-loop", op,
                 [op](int64_t n, T* z, const T* x, const T* y) { plain_loop(op, n, z, x, y); });
#if KERNKIT_BENCH_EIGEN
  if constexpr (!std::is_same_v<T, double> && !std::is_integral_v<T>) {
    add_rows<T, 2>("add", "eigen", op,
                   [](int64_t n, T* z, const T* x, const T* y) { eigen_add(n, z, x, y); });
  }
#endif
#if KERNKIT_BENCH_HIGHWAY
  if constexpr (std::is_same_v<T, float>) {
    add_rows<T, 2>("add", "highway", op,
                   [](int64_t n, T* z, const T* x, const T* y) { highway_add(n, z, x, y); });
  }
#endif
}

[[maybe_unused]] const bool registered = [] {
  add_add<float>();
  add_add<double>();
  add_add<float16>();
  add_add<bfloat16>();
  add_add<int8_t>();
  add_add<int32_t>();
  add_missing_peers();
  return true;
}();

}  // namespace
}  // namespace kernkit::bench
