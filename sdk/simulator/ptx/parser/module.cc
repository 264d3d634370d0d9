// SPDX-License-Identifier: Apache-2.0
// Parser: statements outside of functions.
#include "ptx/parser/module.h"

#include <algorithm>
#include <cstdlib>

#include "ptx/parser/parser.h"

namespace kernkit::simulator::ptx {
namespace {

void parse_function(Lexer& lexer, bool is_kernel, Module* module) {
  Function function;
  function.is_kernel = is_kernel;
  function.results = parse_variables(lexer);
  function.name = lexer.word();
  function.parameters = parse_variables(lexer);
  while (!lexer.at("{") && !lexer.at(";") && !lexer.ended()) {
    const std::string_view word = lexer.next().text;
    if (word != ".maxntid" && word != ".reqntid") continue;
    function.max_threads = parse_operand(lexer).bits;
    while (lexer.accept(",")) function.max_threads *= parse_operand(lexer).bits;
  }
  function.has_body = lexer.accept("{");
  if (function.has_body) {
    function.body = lexer.skip_braces(&function.body_line);
  } else {
    lexer.expect(";");
  }
  Function& known = module->functions[function.name];
  if (!known.has_body) known = function;
}

void parse_file(Lexer& lexer, Module* module) {
  const int line = lexer.peek().line;
  const Operand number = parse_operand(lexer);
  module->files[static_cast<int>(number.bits)] = std::string(lexer.next().text);
  lexer.skip_line(line);
}

std::string name_of(const std::map<int, std::string>& files, int file, int line) {
  const auto found = files.find(file);
  if (found == files.end()) return "";
  const size_t slash = found->second.rfind('/');
  return found->second.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
         std::to_string(line);
}

}  // namespace

std::vector<Variable> parse_variables(Lexer& lexer) {
  std::vector<Variable> list;
  if (!lexer.accept("(")) return list;
  while (!lexer.accept(")")) {
    const std::string space = lexer.word();
    if (space != ".param" && space != ".reg") lexer.reject("expected .param");
    list.push_back(parse_variable(lexer, space.substr(1)));
    lexer.accept(",");
  }
  return list;
}

std::unique_ptr<Module> parse_module(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  Lexer lexer(module->text, 1);
  bool is_extern = false;
  while (!lexer.ended()) {
    const int line = lexer.peek().line;
    const std::string word = lexer.word();
    if (word == ".target") {
      const std::string target(lexer.next().text);  // for example sm_90a
      module->capability = std::atoi(target.c_str() + std::min<size_t>(3, target.size()));
      lexer.skip_line(line);
    } else if (word == ".version" || word == ".address_size") {
      lexer.skip_line(line);
    } else if (word == ".file") {
      parse_file(lexer, module.get());
    } else if (word == ".section") {
      lexer.word();
      lexer.expect("{");
      int first_line;
      lexer.skip_braces(&first_line);
    } else if (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
      is_extern = word == ".extern";
      continue;
    } else if (word == ".entry" || word == ".func") {
      parse_function(lexer, word == ".entry", module.get());
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      module->variables.push_back(parse_variable(lexer, word.substr(1)));
      module->variables.back().is_extern = is_extern;
      lexer.expect(";");
    } else if (word == ".pragma") {
      while (!lexer.accept(";")) lexer.next();
    } else {
      lexer.reject("unknown " + word);
    }
    is_extern = false;
  }
  return module;
}

std::string Module::place(const SourceLine& line) const {
  std::string place, call_sites;
  for (const SourceLine* at = &line; at != nullptr; at = at->call_site.get()) {
    const std::string name = at->line == 0 ? "" : name_of(files, at->file, at->line);
    if (name.empty()) continue;
    if (place.empty()) {
      place = name;
    } else {
      call_sites += (call_sites.empty() ? "" : ", ") + name;
    }
  }
  return call_sites.empty() ? place : place + " (inlined at " + call_sites + ")";
}

uint32_t Module::function_number(const std::string& name) const {
  const auto found = functions.find(name);
  if (found == functions.end() || !found->second.has_body) return 0;
  return static_cast<uint32_t>(std::distance(functions.begin(), found)) + 1;
}

const Function* Module::function_at(uint32_t number) const {
  if (number == 0 || number > functions.size()) return nullptr;
  const Function& function = std::next(functions.begin(), number - 1)->second;
  return function.has_body ? &function : nullptr;
}

}  // namespace kernkit::simulator::ptx
