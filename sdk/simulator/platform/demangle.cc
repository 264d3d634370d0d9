// SPDX-License-Identifier: Apache-2.0
#include "platform/demangle.h"

#include <cxxabi.h>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <cstdlib>

namespace kernkit::simulator {
namespace {

std::string demangled(const std::string& mangled) {
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr);
  std::string result = text != nullptr ? text : mangled;
  std::free(text);
  return result;
}

// Returns the position of the parenthesis that opens the parameter list; the length of the text if
// there is none.
size_t parameters(const std::string& text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.size();
}

size_t size_of(const std::string& type) {
  static constexpr std::pair<std::string_view, size_t> kSizes[] = {{"bool", 1},
                                                                   {"char", 1},
                                                                   {"signed char", 1},
                                                                   {"unsigned char", 1},
                                                                   {"short", 2},
                                                                   {"int", 4},
                                                                   {"unsigned short", 2},
                                                                   {"unsigned int", 4},
                                                                   {"long", 8},
                                                                   {"float", 4},
                                                                   {"unsigned long", 8},
                                                                   {"long long", 8},
                                                                   {"unsigned long long", 8},
                                                                   {"double", 8}};
  if (type.back() == '*') return sizeof(void*);
  const auto* const row = std::find_if(std::begin(kSizes), std::end(kSizes),
                                       [&](const auto& one) { return one.first == type; });
  return row == std::end(kSizes) ? 0 : row->second;
}

}  // namespace

std::string demangle(const std::string& mangled) {
  const std::string text = demangled(mangled);
  std::string name = text.substr(0, parameters(text));
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  return name;
}

std::string name_of_variable(const std::string& mangled) {
  const std::string text = demangled(mangled);
  const size_t function = text.rfind(")::");
  return function == std::string::npos ? text : text.substr(function + 3);
}

std::vector<size_t> argument_sizes(const std::string& mangled) {
  const std::string text = demangled(mangled);
  std::vector<size_t> sizes;
  int depth = 0;
  std::string type;
  for (size_t i = parameters(text) + 1; i < text.size(); ++i) {
    const char c = text[i];
    const bool last = c == ')' && depth == 0;
    if ((c == ',' && depth == 0) || last) {
      if (!type.empty()) sizes.push_back(size_of(type));
      type.clear();
      if (last) break;
      continue;
    }
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c != ' ' || !type.empty()) type += c;
  }
  return sizes;
}

}  // namespace kernkit::simulator
