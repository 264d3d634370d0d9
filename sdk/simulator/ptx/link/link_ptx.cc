// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Linking Directives".
#include "ptx/link/link_ptx.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "ptx/link/device_runtime.h"
#include "ptx/parser/parser.h"
#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::ptx {
namespace {

/// A directive, a declaration or a definition outside of functions.
struct ModuleStatement {
  enum Kind { kHeader, kFile, kSection, kPragma, kFunction, kVariable } kind;
  std::string_view text;
  std::string name;     // name of the function or variable; path of a file
  std::string linkage;  // ".extern", ".visible", ".weak", ".common", or "" without a directive
  bool is_kernel = false;
  bool is_definition = false;
  int file = 0;  // number that a .file directive defines

  // A kernel is never local: the host finds the kernel by its name even without a linkage
  // directive.
  bool is_local() const { return linkage.empty() && !is_kernel; }
  bool is_replaceable() const { return linkage == ".weak" || linkage == ".common"; }
};

struct LinkedModule {
  std::vector<ModuleStatement> statements;
  std::map<std::string, std::string, std::less<>> renamed;  // new names, by old name
  std::map<std::string, int, std::less<>> files;            // new file numbers, by old number
};

void skip_parentheses(Lexer& lexer) {
  if (!lexer.accept("(")) return;
  while (!lexer.accept(")")) {
    if (lexer.ended()) lexer.reject("expected ')'");
    lexer.next();
  }
}

void read_function(Lexer& lexer, ModuleStatement* statement) {
  statement->kind = ModuleStatement::kFunction;
  skip_parentheses(lexer);  // results
  statement->name = lexer.word();
  while (!lexer.at("{") && !lexer.accept(";")) {
    if (lexer.ended()) lexer.reject("expected ';'");
    lexer.next();
  }
  statement->is_definition = lexer.accept("{");
  int first_line;
  if (statement->is_definition) lexer.skip_braces(&first_line);
}

void read_file(Lexer& lexer, ModuleStatement* statement) {
  statement->kind = ModuleStatement::kFile;
  const int line = lexer.peek().line;
  statement->file = static_cast<int>(parse_operand(lexer).bits);
  statement->name = std::string(lexer.next().text);
  lexer.skip_line(line);  // skips the time and size of the file
}

ModuleStatement read_statement(Lexer& lexer) {
  ModuleStatement statement{};
  const int line = lexer.peek().line;
  std::string word = lexer.word();
  if (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
    statement.linkage = word;
    word = lexer.word();
  }
  if (word == ".version" || word == ".target" || word == ".address_size") {
    statement.kind = ModuleStatement::kHeader;
    lexer.skip_line(line);
  } else if (word == ".file") {
    read_file(lexer, &statement);
  } else if (word == ".section") {
    statement.kind = ModuleStatement::kSection;
    lexer.word();
    lexer.expect("{");
    int first_line;
    lexer.skip_braces(&first_line);
  } else if (word == ".entry" || word == ".func") {
    statement.is_kernel = word == ".entry";
    read_function(lexer, &statement);
  } else if (word == ".global" || word == ".const" || word == ".shared") {
    statement.kind = ModuleStatement::kVariable;
    statement.name = parse_variable(lexer, word.substr(1)).name;
    statement.is_definition = statement.linkage != ".extern";
    lexer.expect(";");
  } else if (word == ".pragma") {
    statement.kind = ModuleStatement::kPragma;
    while (!lexer.accept(";")) {
      if (lexer.ended()) lexer.reject("expected ';'");
      lexer.next();
    }
  } else {
    lexer.reject("unknown " + word);
  }
  return statement;
}

const char* start_of(const Lexer& lexer) {
  return lexer.peek().text.data() - (lexer.peek().kind == Token::kString ? 1 : 0);
}

std::vector<ModuleStatement> statements_of(const std::string& text) {
  std::vector<ModuleStatement> statements;
  Lexer lexer(text, 1);
  while (!lexer.ended()) {
    const char* const begin = start_of(lexer);
    ModuleStatement statement = read_statement(lexer);
    const char* const end = lexer.ended() ? text.data() + text.size() : start_of(lexer);
    statement.text = {begin, static_cast<size_t>(end - begin)};
    statements.push_back(std::move(statement));
  }
  return statements;
}

// Returns whether a module is part of libcudadevrt.a, which nvcc -rdc=true links into every
// program.
bool is_device_runtime(const std::vector<ModuleStatement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const ModuleStatement& one) {
    return one.is_definition && one.name == "__cudaCDP2LaunchDeviceV2";
  });
}

bool calls_device_runtime(const std::string& text) {
  return text.find("__cudaCDP2Mem") != std::string::npos;
}

class Linker {
 public:
  explicit Linker(const std::vector<std::string>& modules) {
    for (const std::string& text : modules) {
      std::vector<ModuleStatement> statements = statements_of(text);
      if (is_device_runtime(statements)) continue;
      modules_.push_back({std::move(statements), {}, {}});
    }
    if (calls_copies()) modules_.push_back({statements_of(device_copies()), {}, {}});
  }

  std::string link() {
    choose_definitions();
    for (size_t i = 0; i < modules_.size(); ++i) rename_locals(i);
    for (LinkedModule& module : modules_) number_files(&module);
    for (size_t i = 0; i < modules_.size(); ++i) {
      for (const ModuleStatement& statement : modules_[i].statements) {
        if (is_kept(i, statement)) append(modules_[i], statement);
      }
    }
    return std::move(linked_);
  }

 private:
  // Returns whether a module declares a function that device_copies() defines.
  bool calls_copies() const {
    const std::vector<ModuleStatement> provided = statements_of(device_copies());
    const auto is_provided = [&](const ModuleStatement& one) {
      return !one.is_definition && !one.name.empty() &&
             std::any_of(provided.begin(), provided.end(), [&](const ModuleStatement& other) {
               return other.is_definition && other.name == one.name;
             });
    };
    return std::any_of(modules_.begin(), modules_.end(), [&](const LinkedModule& module) {
      return std::any_of(module.statements.begin(), module.statements.end(), is_provided);
    });
  }

  void choose_definitions() {
    for (size_t i = 0; i < modules_.size(); ++i) {
      for (const ModuleStatement& statement : modules_[i].statements) {
        if (statement.name.empty() || statement.kind == ModuleStatement::kFile) continue;
        const auto [last, is_first] = last_module_.try_emplace(statement.name, i);
        if (!is_first && last->second != i) {
          shared_names_.insert(statement.name);
          last->second = i;
        }
        if (!statement.is_definition || statement.is_local()) continue;
        const ModuleStatement*& chosen = definitions_[statement.name];
        if (chosen == nullptr || (chosen->is_replaceable() && !statement.is_replaceable())) {
          chosen = &statement;
        } else if (!chosen->is_replaceable() && !statement.is_replaceable()) {
          throw UnsupportedPtx("two modules define " + statement.name +
                               ": define the name in one module, or make the definitions .weak");
        }
      }
    }
  }

  // Gives a new name to each local function or variable whose name another module uses as well.
  void rename_locals(size_t number) {
    for (const ModuleStatement& statement : modules_[number].statements) {
      const bool has_name = statement.kind == ModuleStatement::kFunction ||
                            statement.kind == ModuleStatement::kVariable;
      if (!has_name || !statement.is_local() || shared_names_.count(statement.name) == 0) continue;
      std::string name = statement.name + "$" + std::to_string(number);
      while (last_module_.count(name) != 0) name += "$";
      modules_[number].renamed[statement.name] = name;
    }
  }

  // Gives all files with the same path the same number.
  void number_files(LinkedModule* module) {
    for (const ModuleStatement& statement : module->statements) {
      if (statement.kind != ModuleStatement::kFile) continue;
      const int next = static_cast<int>(file_numbers_.size()) + 1;
      const auto [number, is_new] = file_numbers_.try_emplace(statement.name, next);
      module->files[std::to_string(statement.file)] = number->second;
      if (is_new) {
        files_ += ".file " + std::to_string(next) + " \"" + statement.name + "\"\n";
      }
    }
  }

  bool is_kept(size_t module, const ModuleStatement& statement) {
    switch (statement.kind) {
      case ModuleStatement::kHeader: return module == 0;
      case ModuleStatement::kFile:
      case ModuleStatement::kSection:  // debug information
        return false;
      case ModuleStatement::kPragma: return true;
      case ModuleStatement::kFunction:
      case ModuleStatement::kVariable: break;
    }
    if (statement.is_local()) return true;
    const auto definition = definitions_.find(statement.name);
    if (definition != definitions_.end()) return definition->second == &statement;
    return declared_.insert(statement.name).second;
  }

  // Appends a statement with the new names, and with the new file numbers in .loc directives.
  void append(const LinkedModule& module, const ModuleStatement& statement) {
    if (statement.kind != ModuleStatement::kHeader && !files_.empty()) {
      linked_ += files_;
      files_.clear();
    }
    const char* copied = statement.text.data();
    Lexer lexer(statement.text, 1);
    bool is_file = false;  // whether the next token is the number of a file
    while (!lexer.ended()) {
      const Token token = lexer.next();
      const std::string replacement = token.kind != Token::kWord ? std::string()
                                      : is_file                  ? file_of(module, token.text)
                                                                 : name_of(module, token.text);
      is_file = token.text == ".loc" || token.text == "inlined_at";
      if (replacement.empty()) continue;
      linked_.append(copied, token.text.data());
      linked_ += replacement;
      copied = token.text.data() + token.text.size();
    }
    linked_.append(copied, statement.text.data() + statement.text.size());
    if (linked_.back() != '\n') linked_ += '\n';
  }

  static std::string file_of(const LinkedModule& module, std::string_view number) {
    const auto found = module.files.find(number);
    return found == module.files.end() ? "" : std::to_string(found->second);
  }
  static std::string name_of(const LinkedModule& module, std::string_view name) {
    const auto found = module.renamed.find(name);
    return found == module.renamed.end() ? "" : found->second;
  }

  std::vector<LinkedModule> modules_;
  std::map<std::string, const ModuleStatement*> definitions_;  // the kept definition of each name
  std::map<std::string, size_t> last_module_;                  // last module that uses each name
  std::set<std::string> shared_names_;                         // names that several modules use
  std::set<std::string> declared_;  // names without a definition that were appended
  std::map<std::string, int> file_numbers_;
  std::string files_;  // .file directives that are not appended yet
  std::string linked_;
};

}  // namespace

std::string link_ptx(const std::vector<std::string>& modules) {
  const bool is_linked = modules.size() == 1 && !calls_device_runtime(modules.front());
  return is_linked ? modules.front() : Linker(modules).link();
}

}  // namespace kernkit::simulator::ptx
