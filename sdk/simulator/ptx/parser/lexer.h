// SPDX-License-Identifier: Apache-2.0
// Lexer: the words, strings and signs of PTX text, each with its line.
#pragma once

#include <string>
#include <string_view>

namespace kernkit::simulator::ptx {

struct Token {
  enum Kind { kWord, kString, kSign, kEnd } kind;
  std::string_view text;  // of a string without its quotes
  int line;               // of the PTX
};

/// A word has letters, digits and _ $ % . and pairs of colons: `ld.global.L2::128B.u32`, `%tid.x`.
/// After a first dot it ends before the next one: `.reg.b32` is `.reg` and `.b32`.
class Lexer {
 public:
  Lexer(std::string_view text, int line) : rest_(text), line_(line) { read(); }

  const Token& peek() const { return token_; }
  Token next();
  bool at(std::string_view text) const {
    return token_.kind != Token::kString && token_.text == text;
  }
  /// Takes the next token if it is this one.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// The next token, which must be a word. Throws for other tokens.
  std::string word();
  bool ended() const { return token_.kind == Token::kEnd; }
  /// Drops what is left of a line of the text.
  void skip_line(int line);
  /// Behind an opening brace: the text up to the closing one, which is taken as well.
  std::string_view skip_braces(int* first_line);
  [[noreturn]] void reject(const std::string& what) const;

 private:
  void read();
  void skip_blanks();

  std::string_view rest_;  // the text after token_
  int line_;
  Token token_{};
};

}  // namespace kernkit::simulator::ptx
