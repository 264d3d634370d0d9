// SPDX-License-Identifier: Apache-2.0
// Names of dtypes after ':' in a schema line, as in "out_type or bfloat16".
#pragma once

#include "kernkit/schema/lexer.h"
#include "kernkit/types/dtype_name.h"

namespace kernkit::schema {

/// Returns the number of characters of the word that begins at text[begin]; a word consists of
/// ASCII letters, digits and '_'. Returns 0 if text[begin] is another character or the terminating
/// NUL. Throws nothing.
constexpr int word_size(const char* text, int begin) {
  int size = 0;
  while (detail::is_name_char(text[begin + size])) ++size;
  return size;
}

/// Returns the position of the second word in "x or y", where the first word is at `begin` and has
/// `size` characters. Skips the spaces and the word between the two words, without a check that
/// this word is "or". The text has a terminating NUL. Throws nothing.
constexpr int next_word(const char* text, int begin, int size) {
  int at = begin + size;
  while (text[at] == ' ') ++at;
  at += word_size(text, at);
  while (text[at] == ' ') ++at;
  return at;
}

/// Returns whether the `size` characters at text[begin] are the name of a dtype, as dtype_name() of
/// dtype.h writes it, such as "float32". Throws nothing.
constexpr bool is_dtype(const char* text, int begin, int size) {
  return parse_dtype_name(text + begin, static_cast<size_t>(size)).bits != 0;
}

/// Returns the index, counted from 0, of the parameter whose name is the `size` characters at
/// text[begin], or -1 if there is none. `Schema` is a Schema or a Signature, and `line` was parsed
/// from `text`. Throws nothing.
template <class Schema>
constexpr int param_at(const char* text, const Schema& line, int begin, int size) {
  for (int i = 0; i < line.num_params; ++i) {
    const Span name = line.params[i].name;
    int same = 0;
    while (same < size && same < name.size && text[name.begin + same] == text[begin + same]) ++same;
    if (same == size && same == name.size) return i;
  }
  return -1;
}

}  // namespace kernkit::schema
