// SPDX-License-Identifier: Apache-2.0
// Message: the text of an error, built by <<. Used on failure paths only.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>

#include "kernkit/base/cold.h"
#include "kernkit/types/device.h"
#include "kernkit/types/dtype.h"
#include "kernkit/types/shape.h"

namespace kernkit {

/// A growing text. Accepts numbers, enumerators of an unscoped enum (as numbers), bools,
/// characters, C strings, classes with data() and size() of characters, dtypes, devices and shapes.
/// Other types need an overload `Message& operator<<(Message&, const T&)`, or an operator<< for
/// std::ostream together with kernkit/errors/streamable.h. Never throws: if memory is exhausted,
/// the text ends early.
class Message {
 public:
  /// An empty text, without an allocation.
  Message() = default;
  /// Takes over the text; the other message is empty afterwards.
  Message(Message&& other) noexcept
      : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  Message& operator=(Message&&) = delete;
  ~Message() { free(data_); }

  /// Returns this object as an lvalue, so that `Message().stream() << x` reaches every overload.
  Message& stream() { return *this; }

  /// The text with a terminating NUL; never null. Valid until the next append, move or destruction
  /// of this object.
  const char* c_str() const { return data_ == nullptr ? "" : data_; }
  /// Length of the text without the NUL [bytes].
  size_t size() const { return size_; }
  /// True if size() is 0, also because memory was exhausted in the first append.
  bool empty() const { return size_ == 0; }

  /// Appends `size` bytes and returns this object. `text` may be null if `size` is 0, and must not
  /// point into this message. Leaves the text unchanged if memory is exhausted.
  [[gnu::cold]] Message& append(const char* text, size_t size);
  /// Removes the spaces at the end of the text. Other white space stays.
  [[gnu::cold]] void trim();
  /// Appends a number in decimal, with '-' if it is negative, and returns this object.
  [[gnu::cold]] Message& append_signed(int64_t value);
  /// Appends a number in decimal, and returns this object.
  [[gnu::cold]] Message& append_unsigned(uint64_t value);

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// Appends a C string, or "(null)" for a null pointer, and returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, const char* text);
/// Appends one character, and returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, char c);
/// Appends "true" or "false", and returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, bool value);
/// Appends an address in hexadecimal, as printf's "%p" does (glibc prints "(nil)" for null), and
/// returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, const void* pointer);
/// Appends "nullptr", and returns `out`. Throws nothing.
[[gnu::cold]] inline Message& operator<<(Message& out, decltype(nullptr)) {
  return out << "nullptr";
}
/// Appends a number as printf's "%.15g" does, or with 17 digits if 15 do not read back as the same
/// number; "inf" and "nan" for special values. Returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, double value);
/// Appends dtype_name(), such as "float32", and returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, DLDataType dtype);
/// Appends device_name(), such as "cuda:1", and returns `out`. Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, DLDevice device);
/// Appends sizes as a list, such as "[4, 8]", or "[]" for rank 0, and returns `out`. Throws
/// nothing.
[[gnu::cold]] Message& operator<<(Message& out, ShapeView shape);
/// Appends strides [elements] as a list, such as "[8, 1]", or "[]" for rank 0, and returns `out`.
/// Throws nothing.
[[gnu::cold]] Message& operator<<(Message& out, StridesView strides);

/// Appends integers, and enums that `+` converts to integers, in decimal, and returns `out`. signed
/// char and unsigned char (int8_t, uint8_t) are numbers, char is a character. Throws nothing.
template <class T,
          std::enable_if_t<(std::is_integral_v<T> || std::is_enum_v<T>)&&!std::is_same_v<T, char> &&
                               !std::is_same_v<T, bool>,
                           int> = 0,
          class Number = decltype(+std::declval<T>())>
Message& operator<<(Message& out, T value) {
  if constexpr (std::is_signed_v<Number>) {
    return out.append_signed(static_cast<int64_t>(value));
  } else {
    return out.append_unsigned(static_cast<uint64_t>(value));
  }
}
/// Appends the text of a class with data() and size() of characters, such as std::string, and
/// returns `out`. Throws nothing.
template <
    class T,
    std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T&>().data()), const char*>,
                     int> = 0>
Message& operator<<(Message& out, const T& text) {
  return out.append(text.data(), text.size());
}

}  // namespace kernkit

#if !defined(KERNKIT_COMPILED)
#include "kernkit/errors/impl/message.h"
#endif
