// SPDX-License-Identifier: Apache-2.0
// Parser: the statements of a function.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ptx/parser/parser.h"

namespace kernkit::simulator::ptx {
namespace {

class BodyParser {
 public:
  explicit BodyParser(const Function& function) : lexer_(function.body, function.body_line) {}

  std::vector<Statement> parse() {
    while (!lexer_.ended()) parse_statement();
    return std::move(statements_);
  }

 private:
  Statement& add(Statement::Kind kind) {
    statements_.emplace_back();
    Statement& statement = statements_.back();
    statement.kind = kind;
    statement.line = line_;
    statement.ptx_line = lexer_.peek().line;
    last_assembly_ = lexer_.inline_assembly();
    return statement;
  }

  void parse_statement() {
    if (lexer_.accept("{")) {
      add(Statement::kOpen);
    } else if (lexer_.accept("}")) {
      add(Statement::kClose);
    } else if (lexer_.accept(";")) {
    } else if (lexer_.at("@")) {
      parse_instruction();
    } else if (lexer_.peek().text.substr(0, 1) == ".") {
      parse_directive();
    } else {
      parse_instruction();
    }
  }

  int number() { return static_cast<int>(parse_operand(lexer_).bits); }

  using Location = std::tuple<int, int, int>;  // {file, line, column}
  using SourceLinePointer = std::shared_ptr<const SourceLine>;
  Location parse_location() {
    const int file = number(), line = number(), column = number();
    return {file, line, column};
  }

  // Parses .loc 2 449 9, function_name $L__info_string0, inlined_at 1 11 3. If the call site is
  // itself in an inlined function, an earlier .loc describes the call site. LLVM counts the lines
  // inside inline assembly: a .loc after the first statement of the assembly can refer to a line
  // that the source file does not contain, and is skipped.
  void parse_line(int line) {
    const int assembly = lexer_.inline_assembly();
    if (assembly != 0 && assembly == last_assembly_) return lexer_.skip_line(line);
    const Location location = parse_location();
    SourceLinePointer call_site;
    while (lexer_.peek().line == line && !lexer_.ended()) {
      if (lexer_.accept("inlined_at")) {
        const Location at = parse_location();
        SourceLinePointer& existing = locations_[at];
        if (existing == nullptr) existing = location_of(at, nullptr);
        call_site = existing;
      } else {
        lexer_.next();
      }
    }
    const SourceLinePointer source_line = location_of(location, call_site);
    locations_[location] = source_line;
    line_ = *source_line;
  }

  // Returns the source line of a location. If the line is among its own call sites, as in a
  // recursive function, returns that call site, so that repeated directives do not make the chain
  // of call sites longer.
  static SourceLinePointer location_of(const Location& location,
                                       const SourceLinePointer& call_site) {
    const auto [file, line, column] = location;
    for (SourceLinePointer at = call_site; at != nullptr; at = at->call_site) {
      if (at->file == file && at->line == line) return at;
    }
    return std::make_shared<SourceLine>(SourceLine{file, line, call_site});
  }

  void parse_directive() {
    const int line = lexer_.peek().line;
    const std::string name = lexer_.word();
    if (name == ".loc") {
      parse_line(line);
    } else if (name == ".reg") {
      parse_registers();
    } else if (name == ".shared" || name == ".local" || name == ".param" || name == ".global" ||
               name == ".const") {
      add(Statement::kVariable).variable = parse_variable(lexer_, name.substr(1));
      lexer_.expect(";");
    } else if (name == ".pragma") {
      while (!lexer_.accept(";")) lexer_.next();
    } else {
      lexer_.reject("unknown " + name);
    }
  }

  void parse_registers() {
    const std::string type_name = lexer_.word();
    const Type type = type_named(type_name.substr(1));
    if (type == Type::kNone) lexer_.reject("register type " + type_name + " is not supported");
    do {
      Statement& registers = add(Statement::kRegisters);
      registers.type = type;
      registers.name = lexer_.word();
      if (lexer_.accept("<")) {
        registers.count = number();
        lexer_.expect(">");
      }
    } while (lexer_.accept(","));
    lexer_.expect(";");
  }

  void parse_label(const std::string& name) {
    if (lexer_.accept(".callprototype")) return parse_prototype(name);
    if (!lexer_.at(".branchtargets")) {
      add(Statement::kLabel).name = name;
      return;
    }
    lexer_.next();
    Statement& table = add(Statement::kTargets);
    table.name = name;
    parse_operands(&table);
  }

  void parse_prototype(const std::string& name) {
    Statement& prototype = add(Statement::kPrototype);
    prototype.name = name;
    prototype.results = parse_variables(lexer_);
    lexer_.expect("_");
    prototype.parameters = parse_variables(lexer_);
    while (!lexer_.accept(";")) lexer_.next();  // skips directives such as .noreturn
  }

  void parse_operands(Statement* statement) {
    while (!lexer_.accept(";")) {
      if (lexer_.accept("(")) {  // results or parameters of a call
        Operand list;
        list.kind = Operand::kVector;
        while (!lexer_.accept(")")) {
          list.parts.push_back(parse_operand(lexer_));
          lexer_.accept(",");
        }
        statement->operands.push_back(list);
      } else {
        statement->operands.push_back(parse_operand(lexer_));
      }
      if (!lexer_.at(";")) lexer_.expect(",");
    }
  }

  void parse_instruction() {
    std::string guard;
    bool negated = false;
    if (lexer_.accept("@")) {
      negated = lexer_.accept("!");
      guard = lexer_.word();
    }
    const int line = lexer_.peek().line;
    const std::string opcode = lexer_.word();
    if (guard.empty() && lexer_.accept(":")) return parse_label(opcode);
    Statement& instruction = add(Statement::kInstruction);
    instruction.ptx_line = line;
    instruction.guard = guard;
    instruction.guard_negated = negated;
    size_t dot = opcode.find('.');
    instruction.name = opcode.substr(0, dot);
    while (dot != std::string::npos) {
      const size_t begin = dot + 1;
      dot = opcode.find('.', begin);
      instruction.modifiers.push_back(opcode.substr(begin, dot - begin));
    }
    // The operands of texture and surface instructions have a different syntax and are skipped; the
    // decoder rejects these instructions by their names.
    if (uses_texture(instruction.name)) {
      while (!lexer_.accept(";")) lexer_.next();
      return;
    }
    parse_operands(&instruction);
  }

  Lexer lexer_;
  SourceLine line_;
  int last_assembly_ = 0;  // number of the last statement's inline assembly; 0 outside
  std::map<Location, SourceLinePointer> locations_;  // source line of the last .loc of a location
  std::vector<Statement> statements_;
};

}  // namespace

bool uses_texture(const std::string& name) {
  static constexpr std::string_view kNames[] = {"tex",  "tld4",  "txq", "suld",
                                                "sust", "sured", "suq", "istypep"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::vector<Statement> parse_body(const Function& function) { return BodyParser(function).parse(); }

std::string Statement::opcode() const {
  std::string text = name;
  for (const std::string& modifier : modifiers) text += "." + modifier;
  return text;
}

}  // namespace kernkit::simulator::ptx
