// SPDX-License-Identifier: Apache-2.0
// Messages with classes that have an operator<< for std::ostream. A separate header for files with
// such a class, which include <sstream>; this header does not.
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
// True for a class that prints to a std::ostream, except kernkit's types and texts, which have
// overloads of operator<< for Message.
template <class T>
inline constexpr bool kIsStreamable<
    T, std::enable_if_t<
           std::is_class_v<T> && !kIsText<T> && !std::is_convertible_v<T, ShapeView>,
           std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>>> =
    true;

}  // namespace detail

/// Appends what `value` prints to a std::ostream. The file must include `<sstream>`. (Out is a
/// Message, and is checked before T: otherwise the check of T would consider this operator for
/// std::ostream.) Returns `out`. Throws std::bad_alloc, and what the class's operator throws.
template <class Out, class T, std::enable_if_t<std::is_same_v<Out, Message>, int> = 0,
          std::enable_if_t<detail::kIsStreamable<T>, int> = 0>
[[gnu::cold]] Out& operator<<(Out& out, const T& value) {
  // The type of `text` depends on T, so that std::basic_ostringstream may be incomplete until this
  // template is instantiated.
  std::basic_ostringstream<std::enable_if_t<detail::kIsStreamable<T>, char>> text;
  text << value;
  const auto str = text.str();
  return out.append(str.data(), str.size());
}

}  // namespace kernkit
