// SPDX-License-Identifier: Apache-2.0
// Parser: operands, which are names, numbers, vectors and addresses.
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "ptx/parser/parser.h"

namespace kernkit::simulator::ptx {
namespace {

// PTX ISA, "Constants": 0f and 0d precede the bits of a floating-point number; other numbers have
// the syntax of C, with an optional suffix U.
Operand parse_number(Lexer& lexer, bool negative) {
  std::string text = lexer.word();
  Operand number;
  char* end = nullptr;
  if (text.size() == 10 && text[0] == '0' && std::tolower(text[1]) == 'f') {
    number.kind = Operand::kFloat;
    number.bits = std::strtoull(text.c_str() + 2, &end, 16) ^ (negative ? 0x80000000u : 0);
  } else if (text.size() == 18 && text[0] == '0' && std::tolower(text[1]) == 'd') {
    number.kind = Operand::kDouble;
    number.bits = std::strtoull(text.c_str() + 2, &end, 16) ^ (negative ? 1ull << 63 : 0);
  } else if (text.find('.') != std::string::npos) {
    number.kind = Operand::kDouble;
    const double value = std::strtod(text.c_str(), &end) * (negative ? -1 : 1);
    std::memcpy(&number.bits, &value, sizeof(value));
  } else {
    number.kind = Operand::kInteger;
    if (text.back() == 'U') text.pop_back();
    const bool binary = text.size() > 2 && text[0] == '0' && std::tolower(text[1]) == 'b';
    number.bits =
        binary ? std::strtoull(text.c_str() + 2, &end, 2) : std::strtoull(text.c_str(), &end, 0);
    if (negative) number.bits = 0 - number.bits;
  }
  if (end == nullptr || *end != '\0') lexer.reject("expected a number, found " + text);
  return number;
}

Operand parse_vector(Lexer& lexer) {
  Operand vector;
  vector.kind = Operand::kVector;
  while (!lexer.accept("}")) {
    vector.parts.push_back(parse_operand(lexer));
    lexer.accept(",");
  }
  return vector;
}

int64_t parse_offset(Lexer& lexer) {
  const bool negative = lexer.accept("-");
  if (!negative) lexer.expect("+");
  const Operand number = parse_operand(lexer);
  if (number.kind != Operand::kInteger) lexer.reject("expected an offset");
  return static_cast<int64_t>(negative ? 0 - number.bits : number.bits);
}

Operand parse_address(Lexer& lexer) {
  Operand address = parse_operand(lexer);
  if (address.kind == Operand::kInteger) {
    address.offset = static_cast<int64_t>(address.bits);
  } else if (address.kind != Operand::kName) {
    lexer.reject("expected an address");
  }
  address.kind = Operand::kAddress;
  if (!lexer.at("]") && !lexer.at(",")) address.offset += parse_offset(lexer);
  if (lexer.accept(",")) address.parts = {parse_operand(lexer)};  // coordinates of a tensor element
  lexer.expect("]");
  lexer.accept(".unified");  // a hint about the address, which has no effect
  return address;
}

}  // namespace

Operand parse_operand(Lexer& lexer) {
  if (lexer.accept("{")) return parse_vector(lexer);
  if (lexer.accept("[")) return parse_address(lexer);
  if (lexer.accept("-")) return parse_number(lexer, true);
  Operand operand;
  operand.negated = lexer.accept("!");
  if (lexer.peek().kind != Token::kWord) lexer.reject("expected an operand");
  if (std::isdigit(static_cast<unsigned char>(lexer.peek().text[0]))) {
    return parse_number(lexer, false);
  }
  operand.name = lexer.word();
  operand.kind = operand.name == "_" ? Operand::kNothing : Operand::kName;
  if (lexer.accept("|")) operand.parts.push_back(parse_operand(lexer));
  return operand;
}

}  // namespace kernkit::simulator::ptx
