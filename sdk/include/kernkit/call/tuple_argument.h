// SPDX-License-Identifier: Apache-2.0
// Tuples as parameters: lists of fixed length, whose elements have types of their own.
#pragma once

#include "kernkit/list.h"

namespace kernkit::detail {

/// Base of Argument<T> for a tuple T. Element I is read by the Argument of type I in the list Read.
template <class T, class... Read>
struct TupleArgument {
  static constexpr size_t kSize = std::tuple_size<T>::value;
  using Storage = T;
  static constexpr bool fits(const schema::Param&) { return false; }
  template <size_t... I>
  static Storage read_each(const KernkitAny* items, const char* name, std::index_sequence<I...>) {
    return Storage{read_element<Read>(items, I, name)...};
  }
  static Storage read(const KernkitAny& any, const char* name) {
    const ListItems items = ListItems::from(read_list(any, name, "a tuple"));
    if (items.size() != kSize) {
      Message expected;
      expected << "a tuple of " << kSize;
      throw_argument_type(name, expected.c_str(), any);
    }
    return read_each(items.data(), name, std::make_index_sequence<kSize>());
  }
};

template <class T, class Indices>
struct PlainTuple;
template <class T, size_t... I>
struct PlainTuple<T, std::index_sequence<I...>> : TupleArgument<T, std::tuple_element_t<I, T>...> {
};

/// Argument of std::tuple, std::pair and std::array, for KERNKIT_EXPORT_TYPED only: schema lines
/// have no tuples.
template <class T>
struct Argument<T, std::enable_if_t<(std::tuple_size<T>::value > 0)>>
    : PlainTuple<T, std::make_index_sequence<std::tuple_size<T>::value>> {};

}  // namespace kernkit::detail
