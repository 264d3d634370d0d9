// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser/lexer.h"

#include <cctype>
#include <cstring>

#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::ptx {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c != '\0' && std::strchr("_$%.", c));
}

// Returns the length of the word at the start of a text. `.reg.b32` is two words.
size_t length_of_word(std::string_view text) {
  size_t n = 0;
  while (n < text.size()) {
    if (n > 0 && text[0] == '.' && text[n] == '.') break;
    if (is_of_word(text[n])) {
      ++n;
    } else if (text.substr(n, 2) == "::") {
      n += 2;
    } else {
      break;
    }
  }
  return n;
}

}  // namespace

void Lexer::skip_blanks() {
  while (!unread_.empty()) {
    if (std::isspace(static_cast<unsigned char>(unread_[0]))) {
      line_ += unread_[0] == '\n' ? 1 : 0;
      unread_.remove_prefix(1);
    } else if (unread_.substr(0, 2) == "//") {
      const size_t size = std::min(unread_.find('\n'), unread_.size());
      read_comment(unread_.substr(0, size));
      unread_.remove_prefix(size);
    } else if (unread_.substr(0, 2) == "/*") {
      const size_t size = std::min(unread_.find("*/"), unread_.size() - 2) + 2;
      for (const char c : unread_.substr(0, size)) line_ += c == '\n' ? 1 : 0;
      unread_.remove_prefix(size);
    } else {
      return;
    }
  }
}

void Lexer::read_comment(std::string_view comment) {
  constexpr std::string_view kBegin = "// begin inline asm", kEnd = "// end inline asm";
  if (comment.substr(0, kBegin.size()) == kBegin) {
    is_in_assembly_ = true;
    ++assembly_;
  } else if (comment.substr(0, kEnd.size()) == kEnd) {
    is_in_assembly_ = false;
  }
}

void Lexer::read() {
  skip_blanks();
  if (unread_.empty() || unread_[0] == '\0') {
    unread_ = {};
    token_ = {Token::kEnd, "", line_};
  } else if (unread_[0] == '"') {
    const size_t size = std::min(unread_.find('"', 1), unread_.size() - 1);
    token_ = {Token::kString, unread_.substr(1, size - 1), line_};
    unread_.remove_prefix(size + 1);
  } else if (const size_t size = length_of_word(unread_)) {
    token_ = {Token::kWord, unread_.substr(0, size), line_};
    unread_.remove_prefix(size);
  } else {
    token_ = {Token::kSign, unread_.substr(0, 1), line_};
    unread_.remove_prefix(1);
  }
}

Token Lexer::next() {
  const Token token = token_;
  read();
  return token;
}

bool Lexer::accept(std::string_view text) {
  if (!at(text)) return false;
  read();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) reject("expected '" + std::string(text) + "'");
}

std::string Lexer::word() {
  if (token_.kind != Token::kWord) reject("expected a word");
  return std::string(next().text);
}

void Lexer::skip_line(int line) {
  while (token_.line == line && !ended()) read();
}

std::string_view Lexer::skip_braces(int* first_line) {
  // The lookahead token is the first token of the body.
  const char* begin = token_.text.data() - (token_.kind == Token::kString ? 1 : 0);
  *first_line = token_.line;
  for (int depth = 1; !ended(); read()) {
    if (at("{")) ++depth;
    if (at("}") && --depth == 0) {
      const char* end = token_.text.data();
      read();
      return {begin, static_cast<size_t>(end - begin)};
    }
  }
  reject("expected '}'");
}

void Lexer::reject(const std::string& problem) const {
  throw UnsupportedPtx("line " + std::to_string(token_.line) + " of the PTX: " + problem +
                       ", got '" + (ended() ? "the end" : std::string(token_.text)) + "'");
}

}  // namespace kernkit::simulator::ptx
