// SPDX-License-Identifier: Apache-2.0
// Lexer: words and punctuation of a schema line, at compile time.
#pragma once

#include "kernkit/schema/schema.h"

namespace kernkit::schema::detail {

constexpr bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  constexpr explicit Lexer(const char* text) : text_(text) {}

 protected:
  constexpr void skip_space() {
    while (text_[pos_] == ' ') ++pos_;
  }
  constexpr bool eat(char c) {
    skip_space();
    if (text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  constexpr Span word() {
    skip_space();
    const int begin = pos_;
    while (is_name_char(text_[pos_])) ++pos_;
    return {begin, pos_ - begin};
  }
  constexpr bool is(Span span, const char* name) const {
    int i = 0;
    while (i < span.size && name[i] != '\0' && name[i] == text_[span.begin + i]) ++i;
    return i == span.size && name[i] == '\0';
  }
  /// Returns whether a name begins with "__", which is reserved for names in generated code.
  constexpr bool is_reserved(Span span) const {
    return span.size >= 2 && text_[span.begin] == '_' && text_[span.begin + 1] == '_';
  }
  constexpr bool same(Span a, Span b) const {
    if (a.size != b.size) return false;
    for (int i = 0; i < a.size; ++i) {
      if (text_[a.begin + i] != text_[b.begin + i]) return false;
    }
    return true;
  }

  const char* text_;
  int pos_ = 0;
};

}  // namespace kernkit::schema::detail
