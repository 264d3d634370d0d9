// SPDX-License-Identifier: Apache-2.0
// Eigen selects instructions at compile time: the program runs only on processors that support the
// instructions of the build machine.
#include <Eigen/Core>

#include "peers.h"

namespace kernkit::bench {
namespace {

template <class T>
struct Scalar {
  using type = T;
};
template <>
struct Scalar<float16> {
  using type = Eigen::half;
};
template <>
struct Scalar<bfloat16> {
  using type = Eigen::bfloat16;
};
template <class T>
auto array_of(int64_t n, T* data) {
  using Out = typename Scalar<std::remove_const_t<T>>::type;
  using Array = Eigen::Array<Out, Eigen::Dynamic, 1>;
  if constexpr (std::is_const_v<T>) {
    return Eigen::Map<const Array>(reinterpret_cast<const Out*>(data), n);
  } else {
    return Eigen::Map<Array>(reinterpret_cast<Out*>(data), n);
  }
}

}  // namespace

template <class T>
void eigen_scale(int64_t n, T* y, const T* x, float factor) {
  array_of(n, y) = array_of(n, x) * typename Scalar<T>::type(factor);
}
template <class T>
void eigen_add(int64_t n, T* z, const T* x, const T* y) {
  array_of(n, z) = array_of(n, x) + array_of(n, y);
}

template void eigen_scale(int64_t, float*, const float*, float);
template void eigen_scale(int64_t, float16*, const float16*, float);
template void eigen_scale(int64_t, bfloat16*, const bfloat16*, float);
template void eigen_add(int64_t, float*, const float*, const float*);
template void eigen_add(int64_t, float16*, const float16*, const float16*);
template void eigen_add(int64_t, bfloat16*, const bfloat16*, const bfloat16*);

}  // namespace kernkit::bench
