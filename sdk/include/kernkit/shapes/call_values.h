// SPDX-License-Identifier: Apache-2.0
// CallValue: the value of a parameter in one call, as far as the line's shapes need it.
#pragma once

#include "kernkit/list.h"
#include "kernkit/optional.h"

namespace kernkit::shapes {

struct CallValue {
  const DLTensor* tensor =
      nullptr;  // the tensor, or the first of a list; null for None or an empty list
  const ListView<TensorView>* list = nullptr;
  int64_t number = 0;
  DLDataType dtype = {};  // value of a ScalarType; {} for None
};

// An argument for cold functions, passed by value so that the caller keeps it in registers.
struct Nothing {};

inline const DLTensor* plain(const TensorView& x) { return x.get(); }
inline const DLTensor* plain(const Tensor& x) { return x.get(); }
inline DLDataType plain(DLDataType x) { return x; }
inline const ListView<TensorView>* plain(const ListView<TensorView>& x) { return &x; }
template <class T>
auto plain(const T& x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<int64_t>(x);
  } else {
    return Nothing();
  }
}
template <template <class> class Optional, class T>
auto plain(const Optional<T>& x) -> decltype(x.has_value(), plain(*x)) {
  return x.has_value() ? plain(*x) : decltype(plain(*x)){};
}

KERNKIT_ACCESSOR inline CallValue call_value(const DLTensor* x) { return {x, nullptr, 0, {}}; }
KERNKIT_ACCESSOR inline CallValue call_value(int64_t x) { return {nullptr, nullptr, x, {}}; }
KERNKIT_ACCESSOR inline CallValue call_value(DLDataType x) { return {nullptr, nullptr, 0, x}; }
KERNKIT_ACCESSOR inline CallValue call_value(Nothing) { return {}; }
inline CallValue call_value(const ListView<TensorView>* x) {
  const bool has_first = x != nullptr && !x->empty();
  return {has_first ? (*x)[0].get() : nullptr, x, 0, {}};
}

}  // namespace kernkit::shapes
