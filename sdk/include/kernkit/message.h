// SPDX-License-Identifier: Apache-2.0
// Message: the text of an error, put together with <<. Used on failure paths only.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>

#include "kernkit/device.h"
#include "kernkit/dtype.h"
#include "kernkit/shape.h"

namespace kernkit {

/// A growing text. Takes numbers, bools, characters, C strings, anything with data() and size() of
/// characters, dtypes, devices, shapes; a type of yours joins with an overload
/// `Message& operator<<(Message&, const T&)`. Never throws: out of memory ends the text early.
class Message {
 public:
  Message() = default;
  Message(Message&& other) noexcept
      : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  Message& operator=(Message&&) = delete;
  ~Message() { free(data_); }

  /// This object as an lvalue, so that `Message().stream() << x` reaches every overload.
  Message& stream() { return *this; }

  const char* c_str() const { return data_ == nullptr ? "" : data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  [[gnu::noinline, gnu::cold]] Message& append(const char* text, size_t size) {
    if (size_ + size + 1 > capacity_) {
      const size_t capacity = 2 * capacity_ + size + 64;
      char* grown = static_cast<char*>(realloc(data_, capacity));
      if (grown == nullptr) return *this;
      data_ = grown;
      capacity_ = capacity;
    }
    memcpy(data_ + size_, text, size);
    size_ += size;
    data_[size_] = '\0';
    return *this;
  }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

[[gnu::cold]] inline Message& operator<<(Message& out, const char* text) {
  if (text == nullptr) text = "(null)";
  return out.append(text, strlen(text));
}
[[gnu::cold]] inline Message& operator<<(Message& out, char c) { return out.append(&c, 1); }
[[gnu::cold]] inline Message& operator<<(Message& out, bool value) {
  return out << (value ? "true" : "false");
}
[[gnu::cold]] inline Message& operator<<(Message& out, const void* pointer) {
  char text[32];
  return out.append(text, static_cast<size_t>(snprintf(text, sizeof(text), "%p", pointer)));
}
/// The shortest of 15 and 17 digits that reads back as the same number.
[[gnu::cold]] inline Message& operator<<(Message& out, double value) {
  char text[32];
  int size = snprintf(text, sizeof(text), "%.15g", value);
  if (strtod(text, nullptr) < value || strtod(text, nullptr) > value) {
    size = snprintf(text, sizeof(text), "%.17g", value);
  }
  return out.append(text, static_cast<size_t>(size));
}
template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, char> &&
                                        !std::is_same_v<T, bool>,
                                    int> = 0>
[[gnu::cold]] Message& operator<<(Message& out, T value) {
  char text[24];
  const int size =
      std::is_signed_v<T>
          ? snprintf(text, sizeof(text), "%lld", static_cast<long long>(value))
          : snprintf(text, sizeof(text), "%llu", static_cast<unsigned long long>(value));
  return out.append(text, static_cast<size_t>(size));
}
template <
    class T,
    std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T&>().data()), const char*>,
                     int> = 0>
[[gnu::cold]] Message& operator<<(Message& out, const T& text) {
  return out.append(text.data(), text.size());
}

[[gnu::cold]] inline Message& operator<<(Message& out, DLDataType dtype) {
  return out << dtype_name(dtype).c_str();
}
[[gnu::cold]] inline Message& operator<<(Message& out, DLDevice device) {
  return out << device_name(device).c_str();
}

namespace detail {
template <class Range>
[[gnu::cold]] Message& append_list(Message& out, const Range& range) {
  const char* separator = "[";
  for (const int64_t value : range) {
    out << separator << value;
    separator = ", ";
  }
  return out << (range.size() == 0 ? "[]" : "]");
}
}  // namespace detail

[[gnu::cold]] inline Message& operator<<(Message& out, ShapeView shape) {
  return detail::append_list(out, shape);
}
[[gnu::cold]] inline Message& operator<<(Message& out, StridesView strides) {
  return detail::append_list(out, strides);
}

}  // namespace kernkit
