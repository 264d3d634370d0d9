// SPDX-License-Identifier: Apache-2.0
// Parser: declarations of variables and their initial values.
#include <cstring>

#include "ptx/parser/parser.h"

namespace kernkit::simulator::ptx {
namespace {

void append(std::vector<unsigned char>* bytes, uint64_t bits, uint32_t size) {
  unsigned char raw[8];
  std::memcpy(raw, &bits, sizeof(raw));
  bytes->insert(bytes->end(), raw, raw + size);
}

// Returns the bits of an initial value of the type. Converts a float literal for a variable of type
// .f64.
uint64_t bits_of(const Operand& value, Type type) {
  if (value.kind == Operand::kFloat && type == Type::kF64) {
    float narrow;
    std::memcpy(&narrow, &value.bits, sizeof(narrow));
    const double wide = narrow;
    uint64_t bits;
    std::memcpy(&bits, &wide, sizeof(bits));
    return bits;
  }
  return value.bits;
}

void parse_initial(Lexer& lexer, Type type, Initial* initial) {
  if (lexer.accept("{")) {
    while (!lexer.accept("}")) {
      parse_initial(lexer, type, initial);
      lexer.accept(",");
    }
    return;
  }
  const bool generic = lexer.accept("generic");
  if (generic) lexer.expect("(");
  const Operand value = parse_operand(lexer);
  Initial::Address address{static_cast<uint32_t>(initial->bytes.size()), value.name, 0, generic};
  if (generic) lexer.expect(")");
  if (value.kind == Operand::kName) {
    if (lexer.accept("+")) address.offset = static_cast<int64_t>(parse_operand(lexer).bits);
    if (size_of(type) != 8) lexer.reject("an address as initial value needs a type of 8 bytes");
    initial->addresses.push_back(address);
  } else if (value.kind == Operand::kVector || value.kind == Operand::kAddress) {
    lexer.reject("expected a number");
  }
  append(&initial->bytes, bits_of(value, type), size_of(type));
}

// Returns whether a variable is a texture, surface or sampler. The simulator stores such a variable
// as 64 bits that no supported instruction accesses.
bool is_opaque(const std::string& token) {
  return token == ".texref" || token == ".surfref" || token == ".samplerref";
}

}  // namespace

Variable parse_variable(Lexer& lexer, const std::string& space) {
  Variable variable;
  variable.space = space;
  uint32_t elements = 1;
  bool opaque = false;
  while (lexer.peek().text.substr(0, 1) == ".") {
    const std::string token = lexer.word();
    if (token == ".align") {
      variable.alignment = static_cast<uint32_t>(parse_operand(lexer).bits);
    } else if (token == ".v2" || token == ".v4") {
      elements = token == ".v2" ? 2 : 4;
    } else if (token == ".ptr" || token == ".attribute") {
      // `.ptr .global .align 4` after a parameter has no effect.
      if (token == ".attribute") {
        lexer.expect("(");
        while (!lexer.accept(")")) variable.is_managed |= lexer.next().text == ".managed";
      }
    } else if (is_opaque(token)) {
      opaque = true;
      variable.type = Type::kB64;
    } else if (type_named(token.substr(1)) != Type::kNone) {
      variable.type = type_named(token.substr(1));
    } else if (token != ".global" && token != ".shared" && token != ".const" && token != ".local") {
      lexer.reject(token + " in a declaration is not supported");
    }
  }
  if (variable.type == Type::kNone) lexer.reject("expected a type");
  variable.name = lexer.word();
  while (lexer.accept("[")) {
    if (lexer.accept("]")) {
      elements = 0;
      continue;
    }
    elements *= static_cast<uint32_t>(parse_operand(lexer).bits);
    lexer.expect("]");
  }
  variable.size = elements * size_of(variable.type);
  variable.alignment = std::max(variable.alignment, size_of(variable.type));
  if (opaque && lexer.accept("=")) {
    lexer.expect("{");
    while (!lexer.accept("}")) {
      if (lexer.ended()) lexer.reject("expected }");
      lexer.next();
    }
  } else if (lexer.accept("=")) {
    parse_initial(lexer, variable.type, &variable.initial);
    if (variable.size == 0) variable.size = static_cast<uint32_t>(variable.initial.bytes.size());
    if (variable.initial.bytes.size() > variable.size)
      lexer.reject("more initial values than the variable has elements");
  }
  return variable;
}

}  // namespace kernkit::simulator::ptx
