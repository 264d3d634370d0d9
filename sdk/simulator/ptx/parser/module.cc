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
    const std::string_view directive = lexer.next().text;
    if (directive == ".reqnctapercluster") {
      uint32_t i = 0;
      function.cluster[1] = function.cluster[2] = 1;
      do {
        if (i < 3) function.cluster[i++] = static_cast<uint32_t>(parse_operand(lexer).bits);
      } while (lexer.accept(","));
    }
    if (directive != ".maxntid" && directive != ".reqntid") continue;
    function.max_threads = parse_operand(lexer).bits;
    while (lexer.accept(",")) function.max_threads *= parse_operand(lexer).bits;
  }
  function.has_body = lexer.accept("{");
  if (function.has_body) {
    function.body = lexer.skip_braces(&function.body_line);
  } else {
    lexer.expect(";");
  }
  Function& declared = module->functions[function.name];
  if (!declared.has_body) declared = function;
}

void parse_file(Lexer& lexer, Module* module) {
  const int line = lexer.peek().line;
  const Operand number = parse_operand(lexer);
  module->files[static_cast<int>(number.bits)] = std::string(lexer.next().text);
  lexer.skip_line(line);
}

std::string name_of(const std::map<int, std::string>& files, int file, int line) {
  const auto name = files.find(file);
  if (name == files.end()) return "";
  const size_t slash = name->second.rfind('/');
  return name->second.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
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
    const std::string directive = lexer.word();
    if (directive == ".target") {
      const std::string target(lexer.next().text);  // for example sm_90a
      module->capability = std::atoi(target.c_str() + std::min<size_t>(3, target.size()));
      lexer.skip_line(line);
    } else if (directive == ".version" || directive == ".address_size") {
      lexer.skip_line(line);
    } else if (directive == ".file") {
      parse_file(lexer, module.get());
    } else if (directive == ".section") {
      lexer.word();
      lexer.expect("{");
      int first_line;
      lexer.skip_braces(&first_line);
    } else if (directive == ".extern" || directive == ".visible" || directive == ".weak" ||
               directive == ".common") {
      is_extern = directive == ".extern";
      continue;
    } else if (directive == ".entry" || directive == ".func") {
      parse_function(lexer, directive == ".entry", module.get());
    } else if (directive == ".global" || directive == ".const" || directive == ".shared") {
      module->variables.push_back(parse_variable(lexer, directive.substr(1)));
      module->variables.back().is_extern = is_extern;
      lexer.expect(";");
    } else if (directive == ".pragma") {
      while (!lexer.accept(";")) lexer.next();
    } else {
      lexer.reject("unknown " + directive);
    }
    is_extern = false;
  }
  return module;
}

std::string Module::location_text(const SourceLine& line) const {
  std::string location, call_sites;
  for (const SourceLine* at = &line; at != nullptr; at = at->call_site.get()) {
    const std::string name = at->line == 0 ? "" : name_of(files, at->file, at->line);
    if (name.empty()) continue;
    if (location.empty()) {
      location = name;
    } else {
      call_sites += (call_sites.empty() ? "" : ", ") + name;
    }
  }
  return call_sites.empty() ? location : location + " (inlined at " + call_sites + ")";
}

uint32_t Module::function_number(const std::string& name) const {
  const auto position = functions.find(name);
  if (position == functions.end() || !position->second.has_body) return 0;
  return static_cast<uint32_t>(std::distance(functions.begin(), position)) + 1;
}

const Function* Module::function_at(uint32_t number) const {
  if (number == 0 || number > functions.size()) return nullptr;
  const Function& function = std::next(functions.begin(), number - 1)->second;
  return function.has_body ? &function : nullptr;
}

}  // namespace kernkit::simulator::ptx
