// SPDX-License-Identifier: Apache-2.0
// Tuple: a list of fixed length, each of whose elements has its own type.
#pragma once

#include <tuple>

#include "kernkit/call/tuple_argument.h"
#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
/// A list of fixed length whose elements may differ in type. A parameter of this type accepts a
/// list with the same number of elements.
template <class... T>
class Tuple : public std::tuple<T...> {
 public:
  using std::tuple<T...>::tuple;
  /// Returns a copy of element I.
  template <size_t I>
  auto get() const {
    return std::get<I>(*this);
  }
  /// Replaces element I.
  template <size_t I, class U>
  void Set(U&& value) {
    std::get<I>(*this) = std::forward<U>(value);
  }
};
/// Deduces the types of the elements.
template <class... T>
Tuple(T...) -> Tuple<T...>;
KERNKIT_TVM_FFI_END

/// The number of elements, for structured bindings.
template <class... T>
struct std::tuple_size<tvm::ffi::Tuple<T...>> : std::tuple_size<std::tuple<T...>> {};
/// The type of element I, for structured bindings.
template <size_t I, class... T>
struct std::tuple_element<I, tvm::ffi::Tuple<T...>> : std::tuple_element<I, std::tuple<T...>> {};
