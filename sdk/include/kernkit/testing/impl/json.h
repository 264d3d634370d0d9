// SPDX-License-Identifier: Apache-2.0
// Json: a JSON text of a recorded call, which is untrusted input.
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <utility>
#include <vector>

#include "kernkit/error.h"

namespace kernkit::testing::contract {

/// A value of a JSON text. A function that converts the value throws ValueError for a value of
/// another type.
struct Json {
  enum Kind : uint8_t { kNull, kBool, kNumber, kText, kList, kObject };

  Kind kind = kNull;
  bool is_true = false;           // value of a bool
  std::string text;               // a text, or the characters of a number
  std::vector<Json> items;        // items of a list, or values of an object
  std::vector<std::string> keys;  // keys of an object

  const Json* find(const char* key) const {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] == key) return &items[i];
    }
    return nullptr;
  }
  const Json& at(const char* key) const {
    const Json* found = find(key);
    KERNKIT_CHECK(found != nullptr, ValueError) << "the key " << key << " is missing";
    return *found;
  }
  const std::string& as_text() const {
    KERNKIT_CHECK(kind == kText, ValueError) << "a text was expected";
    return text;
  }
  const std::vector<Json>& as_list() const {
    KERNKIT_CHECK(kind == kList, ValueError) << "a list was expected";
    return items;
  }
  int64_t as_int(int64_t low, int64_t high) const {
    char* end = nullptr;
    errno = 0;
    const long long value = strtoll(text.c_str(), &end, 10);
    const bool is_int = kind == kNumber && errno == 0 && *end == '\0';
    KERNKIT_CHECK(is_int && low <= value && value <= high, ValueError)
        << "an integer from " << low << " to " << high << " was expected";
    return value;
  }
  uint64_t as_unsigned() const {
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = strtoull(text.c_str(), &end, 10);
    const bool is_int = kind == kNumber && errno == 0 && *end == '\0' && text[0] != '-';
    KERNKIT_CHECK(is_int, ValueError) << "an integer from 0 was expected";
    return value;
  }
  /// A number, or the text "nan", "inf" or "-inf".
  double as_float() const {
    char* end = nullptr;
    const double value = strtod(text.c_str(), &end);
    KERNKIT_CHECK((kind == kNumber || kind == kText) && !text.empty() && *end == '\0', ValueError)
        << "a number was expected";
    return value;
  }
  bool as_bool() const { return kind == kBool && is_true; }
};

/// Parses JSON texts. A text has at most 256 levels and 2^20 values.
class JsonParser {
 public:
  /// Returns the value of the text. Throws ValueError for a text that is not JSON.
  static Json parse(const std::string& text) {
    JsonParser parser(text);
    Json value;
    parser.read(&value, 0);
    parser.space();
    if (parser.at_ != text.size()) parser.fail();
    return value;
  }

 private:
  explicit JsonParser(const std::string& text) : text_(text) {}

  [[noreturn]] void fail() const {
    KERNKIT_THROW(ValueError) << "the text is not JSON: error at byte " << at_;
    abort();
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (next() == ' ' || next() == '\n' || next() == '\t' || next() == '\r') ++at_;
  }
  bool take(char c) {
    space();
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void word(const char* text) {
    if (text_.compare(at_, strlen(text), text) != 0) fail();
    at_ += strlen(text);
  }

  void read(Json* value, int depth) {
    space();
    if (depth > 256 || ++count_ > 1 << 20) fail();
    switch (next()) {
      case '{': return read_object(value, depth);
      case '[': return read_list(value, depth);
      case '"': value->kind = Json::kText; return read_text(&value->text);
      case 't':
        word("true");
        value->kind = Json::kBool;
        value->is_true = true;
        return;
      case 'f':
        word("false");
        value->kind = Json::kBool;
        return;
      case 'n': word("null"); return;
      default: return read_number(value);
    }
  }
  void read_list(Json* value, int depth) {
    value->kind = Json::kList;
    ++at_;
    if (take(']')) return;
    do {
      value->items.emplace_back();
      read(&value->items.back(), depth + 1);
    } while (take(','));
    if (!take(']')) fail();
  }
  void read_object(Json* value, int depth) {
    value->kind = Json::kObject;
    ++at_;
    if (take('}')) return;
    do {
      space();
      if (next() != '"') fail();
      value->keys.emplace_back();
      read_text(&value->keys.back());
      if (!take(':')) fail();
      value->items.emplace_back();
      read(&value->items.back(), depth + 1);
    } while (take(','));
    if (!take('}')) fail();
  }
  void read_number(Json* value) {
    const size_t begin = at_;
    while (next() != '\0' && strchr("+-.0123456789eE", next()) != nullptr) ++at_;
    if (at_ == begin) fail();
    value->kind = Json::kNumber;
    value->text = text_.substr(begin, at_ - begin);
  }

  unsigned hexadecimal() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = next();
      const char* digits = "0123456789abcdefABCDEF";
      const char* digit = c == '\0' ? nullptr : strchr(digits, c);
      if (digit == nullptr) fail();
      const auto index = static_cast<unsigned>(digit - digits);
      code = 16 * code + (index < 16 ? index : index - 6);
    }
    return code;
  }
  static void append_utf8(std::string* text, unsigned code) {
    const auto put = [&](unsigned byte) { text->push_back(static_cast<char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 63));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 63));
      put(0x80 | (code >> 6 & 63));
    }
    put(0x80 | (code & 63));
  }
  void read_text(std::string* text) {
    for (++at_; next() != '"'; ++at_) {
      if (at_ >= text_.size()) fail();
      if (next() != '\\') {
        text->push_back(next());
        continue;
      }
      ++at_;
      const char* escapes = "\"\\/bfnrt";
      const char* escape = next() == '\0' ? nullptr : strchr(escapes, next());
      if (escape != nullptr) {
        text->push_back("\"\\/\b\f\n\r\t"[escape - escapes]);
        continue;
      }
      if (next() != 'u') fail();
      ++at_;
      unsigned code = hexadecimal();
      if (code >= 0xd800 && code < 0xdc00 && text_.compare(at_, 2, "\\u") == 0) {
        at_ += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + ((hexadecimal() - 0xdc00) & 0x3ff);
      }
      append_utf8(text, code);
      --at_;
    }
    ++at_;
  }

  const std::string& text_;
  size_t at_ = 0;
  int count_ = 0;
};

}  // namespace kernkit::testing::contract
