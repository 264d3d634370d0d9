// SPDX-License-Identifier: Apache-2.0
// Classes with an operator<< for std::ostream, in messages. A header of its own, for files that
// have such a class, and so include <sstream>, which this does not.
#pragma once

#include <iosfwd>

#include "kernkit/errors/message.h"

namespace kernkit {

namespace detail {

template <class T, class = void>
inline constexpr bool kIsText = false;
template <class T>
inline constexpr bool kIsText<T, std::void_t<decltype(std::declval<const T&>().data())>> = true;

template <class T, class = void>
inline constexpr bool kIsStreamable = false;
// Not of kernkit and no text: those have an overload of their own.
template <class T>
inline constexpr bool kIsStreamable<
    T, std::enable_if_t<
           std::is_class_v<T> && !kIsText<T> && !std::is_convertible_v<T, ShapeView>,
           std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>>> =
    true;

}  // namespace detail

/// What a std::ostream would print. The file must include <sstream>. (Out is a Message: asked
/// before T is, which would else ask whether a std::ostream goes with this very operator.)
template <class Out, class T, std::enable_if_t<std::is_same_v<Out, Message>, int> = 0,
          std::enable_if_t<detail::kIsStreamable<T>, int> = 0>
[[gnu::cold]] Out& operator<<(Out& out, const T& value) {
  // The type's name depends on T, so the class may be incomplete before instantiation.
  std::basic_ostringstream<std::enable_if_t<detail::kIsStreamable<T>, char>> text;
  text << value;
  const auto str = text.str();
  return out.append(str.data(), str.size());
}

}  // namespace kernkit
