// SPDX-License-Identifier: Apache-2.0
// Tuple: a list of fixed length, each of whose elements has its own type.
#pragma once

#include <tuple>

#include "kernkit/call/tuple_argument.h"
#include "tvm/ffi/error.h"

KERNKIT_TVM_FFI_BEGIN
template <class... T>
class Tuple : public std::tuple<T...> {
 public:
  using std::tuple<T...>::tuple;
  template <size_t I>
  auto get() const {
    return std::get<I>(*this);
  }
  template <size_t I, class U>
  void Set(U&& value) {
    std::get<I>(*this) = std::forward<U>(value);
  }
};
template <class... T>
Tuple(T...) -> Tuple<T...>;
KERNKIT_TVM_FFI_END

template <class... T>
struct std::tuple_size<tvm::ffi::Tuple<T...>> : std::tuple_size<std::tuple<T...>> {};
template <size_t I, class... T>
struct std::tuple_element<I, tvm::ffi::Tuple<T...>> : std::tuple_element<I, std::tuple<T...>> {};
