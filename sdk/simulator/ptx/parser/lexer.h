// SPDX-License-Identifier: Apache-2.0
// Lexer: splits PTX text into words, strings and signs, with their lines.
#pragma once

#include <string>
#include <string_view>

namespace kernkit::simulator::ptx {

struct Token {
  enum Kind { kWord, kString, kSign, kEnd } kind;
  std::string_view text;  // text of the token; strings without quotes
  int line;               // line number in the PTX
};

/// Splits PTX into tokens. A word consists of letters, digits, _ $ % . and pairs of colons:
/// `ld.global.L2::128B.u32`, `%tid.x`. A word that begins with a dot ends before the next dot:
/// `.reg.b32` is `.reg` and `.b32`.
class Lexer {
 public:
  Lexer(std::string_view text, int line) : unread_(text), line_(line) { read(); }

  const Token& peek() const { return token_; }
  Token next();
  bool at(std::string_view text) const {
    return token_.kind != Token::kString && token_.text == text;
  }
  /// Takes the next token if it has this text. Returns whether the token was taken.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// Takes the next token, which must be a word. Throws for other tokens.
  std::string word();
  /// Returns the number of the inline assembly that the next token is in, from 1 on, and 0 outside.
  /// LLVM writes the begin and the end of inline assembly as comments.
  int inline_assembly() const { return is_in_assembly_ ? assembly_ : 0; }
  bool ended() const { return token_.kind == Token::kEnd; }
  /// Skips the remaining tokens of line number `line`.
  void skip_line(int line);
  /// Takes the text up to and including the closing brace that matches an opening brace. Requires
  /// that the opening brace was the last token taken. Returns the text without the closing brace,
  /// and stores the number of its first line.
  std::string_view skip_braces(int* first_line);
  [[noreturn]] void reject(const std::string& problem) const;

 private:
  void read();
  void skip_blanks();
  void read_comment(std::string_view comment);

  std::string_view unread_;  // text after token_
  int line_;
  int assembly_ = 0;  // number of inline assemblies that have begun
  bool is_in_assembly_ = false;
  Token token_{};
};

}  // namespace kernkit::simulator::ptx
