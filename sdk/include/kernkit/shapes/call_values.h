// SPDX-License-Identifier: Apache-2.0
// CallValue: the part of an argument on which the shapes in the schema line depend.
#pragma once

#include "kernkit/list.h"
#include "kernkit/optional.h"

namespace kernkit::shapes {

/// The value of a parameter in one call. Members that the parameter's type does not use keep their
/// defaults.
struct CallValue {
  /// The tensor, or the first of a list; null for None or an empty list.
  const DLTensor* tensor = nullptr;
  const ListView<TensorView>* list = nullptr;  ///< the list of tensors, or null
  int64_t number = 0;                          ///< value of an int
  DLDataType dtype = {};                       ///< value of a ScalarType; {} for None
};

/// The value of an argument on which no shape depends, such as a float or a str.
struct Nothing {};

/// Returns the DLTensor of a view, borrowed. Each function plain() returns the part of an argument
/// on which shapes depend, as a number or an address, which is passed to cold functions by value so
/// that the caller can keep the argument in registers. Throws nothing.
inline const DLTensor* plain(const TensorView& x) { return x.get(); }
/// Returns the DLTensor of an owned tensor, valid while an owner exists. Throws InternalError for
/// an undefined Tensor.
inline const DLTensor* plain(const Tensor& x) { return x.get(); }
/// Returns the dtype that a ScalarType argument holds. Throws nothing.
inline DLDataType plain(DLDataType x) { return x; }
/// Returns the address of a list, which must outlive the result. Throws nothing.
inline const ListView<TensorView>* plain(const ListView<TensorView>& x) { return &x; }
/// Returns an integer as int64_t (a uint64_t above 2^63 - 1 wraps), and Nothing for a bool, a float
/// or an argument of another type. Throws nothing.
template <class T>
auto plain(const T& x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<int64_t>(x);
  } else {
    return Nothing();
  }
}
/// Returns plain() of the value of an optional argument, and throws its errors; returns null, 0 or
/// {} for None.
template <template <class> class Optional, class T>
auto plain(const Optional<T>& x) -> decltype(x.has_value(), plain(*x)) {
  return x.has_value() ? plain(*x) : decltype(plain(*x)){};
}

/// Returns the CallValue of a tensor, which is borrowed; null means None. Throws nothing.
KERNKIT_ACCESSOR inline CallValue call_value(const DLTensor* x) { return {x, nullptr, 0, {}}; }
/// Returns the CallValue of an int. Throws nothing.
KERNKIT_ACCESSOR inline CallValue call_value(int64_t x) { return {nullptr, nullptr, x, {}}; }
/// Returns the CallValue of a ScalarType; {} means None. Throws nothing.
KERNKIT_ACCESSOR inline CallValue call_value(DLDataType x) { return {nullptr, nullptr, 0, x}; }
/// Returns the CallValue of an argument on which no shape depends. Throws nothing.
KERNKIT_ACCESSOR inline CallValue call_value(Nothing) { return {}; }
/// Returns the CallValue of a list, which must outlive the result; null means None. The member
/// `tensor` is the first tensor of the list. Throws TypeError if the first element is not a tensor.
inline CallValue call_value(const ListView<TensorView>* x) {
  const bool has_first = x != nullptr && !x->empty();
  return {has_first ? (*x)[0].get() : nullptr, x, 0, {}};
}

}  // namespace kernkit::shapes
