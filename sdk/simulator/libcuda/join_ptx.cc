// SPDX-License-Identifier: Apache-2.0
#include "libcuda/join_ptx.h"

#include <cctype>
#include <set>

namespace kernkit::simulator::driver {
namespace {

/// A statement outside of functions: a directive, a declaration or a definition.
struct Statement {
  std::string text;
  std::string name;        // name of a function or variable, or ""
  bool is_header = false;  // whether the statement is .version, .target or .address_size
  bool is_declaration = false;
};

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// Returns the end of the comment that begins at `at`, or `at` if none begins.
size_t after_comment(const std::string& text, size_t at) {
  if (text.compare(at, 2, "//") == 0) {
    const size_t end = text.find('\n', at);
    return end == std::string::npos ? text.size() : end + 1;
  }
  if (text.compare(at, 2, "/*") == 0) {
    const size_t end = text.find("*/", at + 2);
    return end == std::string::npos ? text.size() : end + 2;
  }
  return at;
}

// Returns the name that a declaration introduces: the last name before the parameters, the bounds,
// the initial value or the body. Result parameters of a function precede its name.
std::string name_of(const std::string& text) {
  const size_t function = text.find(".func");
  size_t at = function != std::string::npos ? function + 5 : 0;
  if (function != std::string::npos) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    if (at < text.size() && text[at] == '(') at = text.find(')', at) + 1;
  }
  std::string name;
  for (; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '=' || text[at] == '{') break;
    if (text[at] == ';') break;
    if (text[at] == '.') {  // a directive or a type
      while (at + 1 < text.size() && (is_name(text[at + 1]) || text[at + 1] == ':')) ++at;
      continue;
    }
    const bool starts =
        is_name(text[at]) && std::isdigit(static_cast<unsigned char>(text[at])) == 0;
    if (!starts) continue;
    name.clear();
    while (at < text.size() && is_name(text[at])) name += text[at++];
    --at;
  }
  return name;
}

bool begins_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

std::vector<Statement> statements_of(const std::string& text) {
  std::vector<Statement> all;
  size_t at = 0;
  while (at < text.size()) {
    const size_t next = after_comment(text, at);
    if (next != at || std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      at = next != at ? next : at + 1;
      continue;
    }
    Statement statement;
    const size_t begin = at;
    statement.is_header = text.compare(at, 8, ".version") == 0 ||
                          text.compare(at, 7, ".target") == 0 ||
                          text.compare(at, 13, ".address_size") == 0;
    const bool is_line = statement.is_header || text.compare(at, 5, ".file") == 0;
    const bool is_section = text.compare(at, 8, ".section") == 0;
    int depth = 0;
    bool has_body = false, is_variable = false;
    for (; at < text.size(); ++at) {
      const size_t skipped = after_comment(text, at);
      if (skipped != at) {
        if (is_line) break;
        at = skipped - 1;
        continue;
      }
      if (text[at] == '"') {
        at = text.find('"', at + 1);
        if (at == std::string::npos) at = text.size() - 1;
        continue;
      }
      if (text[at] == '\n' && is_line) break;
      if (text[at] == '=' && depth == 0) is_variable = true;  // braces are an initial value
      if (text[at] == '{') {
        ++depth;
        has_body = has_body || !is_variable;
      }
      if (text[at] == '}' && --depth == 0 && (has_body || is_section)) {
        ++at;
        break;
      }
      if (text[at] == ';' && depth == 0) {
        ++at;
        break;
      }
    }
    statement.text = text.substr(begin, at - begin);
    if (!is_line && !is_section) {
      statement.name = name_of(statement.text);
      statement.is_declaration = begins_with(statement.text, ".extern") ||
                                 (!has_body && statement.text.find(".func") != std::string::npos);
    }
    all.push_back(std::move(statement));
  }
  return all;
}

}  // namespace

std::string join_ptx(const std::vector<std::string>& modules) {
  if (modules.size() == 1) return modules.front();
  std::set<std::string> defined, declared;
  std::vector<std::vector<Statement>> parsed;
  for (const std::string& module : modules) {
    parsed.push_back(statements_of(module));
    for (const Statement& statement : parsed.back()) {
      if (!statement.name.empty() && !statement.is_declaration) defined.insert(statement.name);
    }
  }
  std::string joined;
  for (size_t i = 0; i < parsed.size(); ++i) {
    for (const Statement& statement : parsed[i]) {
      if (statement.is_header && i != 0) continue;
      // A forward declaration in the module of the definition stays before the definition.
      const bool is_import = begins_with(statement.text, ".extern");
      if (is_import && defined.count(statement.name) != 0) continue;
      if (is_import && !declared.insert(statement.name).second) continue;
      joined += statement.text + "\n";
    }
  }
  return joined;
}

}  // namespace kernkit::simulator::driver
