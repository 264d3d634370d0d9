// SPDX-License-Identifier: Apache-2.0
// Growth and printing of a Message.
#pragma once

#include <stdio.h>

#include "kernkit/errors/message.h"

namespace kernkit {

KERNKIT_COLD Message& Message::append(const char* text, size_t size) {
  if (size == 0) return *this;                          // `text` may be null if `size` is 0
  if (data_ == nullptr || size >= capacity_ - size_) {  // one more byte is reserved for the NUL
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

KERNKIT_COLD void Message::trim() {
  while (size_ > 0 && data_[size_ - 1] == ' ') data_[--size_] = '\0';
}

KERNKIT_COLD Message& Message::append_signed(int64_t value) {
  if (value >= 0) return append_unsigned(static_cast<uint64_t>(value));
  return append("-", 1).append_unsigned(0 - static_cast<uint64_t>(value));
}

KERNKIT_COLD Message& Message::append_unsigned(uint64_t value) {
  char text[20];
  char* begin = text + sizeof(text);
  do {
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return append(begin, static_cast<size_t>(text + sizeof(text) - begin));
}

KERNKIT_COLD Message& operator<<(Message& out, const char* text) {
  if (text == nullptr) text = "(null)";
  return out.append(text, strlen(text));
}

KERNKIT_COLD Message& operator<<(Message& out, char c) { return out.append(&c, 1); }

KERNKIT_COLD Message& operator<<(Message& out, bool value) {
  return out << (value ? "true" : "false");
}

KERNKIT_COLD Message& operator<<(Message& out, const void* pointer) {
  char text[32];
  return out.append(text, static_cast<size_t>(snprintf(text, sizeof(text), "%p", pointer)));
}

KERNKIT_COLD Message& operator<<(Message& out, double value) {
  char text[32];
  int size = snprintf(text, sizeof(text), "%.15g", value);
  const double read = strtod(text, nullptr);
  if (read < value || read > value) size = snprintf(text, sizeof(text), "%.17g", value);
  return out.append(text, static_cast<size_t>(size));
}

KERNKIT_COLD Message& operator<<(Message& out, DLDataType dtype) {
  return out << dtype_name(dtype).c_str();
}

KERNKIT_COLD Message& operator<<(Message& out, DLDevice device) {
  return out << device_name(device).c_str();
}

namespace detail {
template <class Range>
Message& append_list(Message& out, const Range& range) {
  const char* separator = "[";
  for (const int64_t value : range) {
    out << separator << value;
    separator = ", ";
  }
  return out << (range.size() == 0 ? "[]" : "]");
}
}  // namespace detail

KERNKIT_COLD Message& operator<<(Message& out, ShapeView shape) {
  return detail::append_list(out, shape);
}

KERNKIT_COLD Message& operator<<(Message& out, StridesView strides) {
  return detail::append_list(out, strides);
}

}  // namespace kernkit
