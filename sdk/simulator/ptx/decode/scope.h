// SPDX-License-Identifier: Apache-2.0
// Scope: the names between two braces, or in a function.
#pragma once

#include <string>
#include <vector>

#include "ptx/machine/operation.h"
#include "ptx/parser/string_map.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// A register, or a variable with an address.
struct Symbol {
  bool is_register = false;
  Type type = Type::kNone;
  uint32_t number = 0;  // number of the register
  Space space = Space::kGeneric;
  uint64_t address = 0;       // address within the space
  bool is_parameter = false;  // whether the symbol is a parameter: mov yields its generic address
  bool in_frame = false;      // whether the address is relative to the function's frame
  uint32_t variable = kNone;  // index into Kernel::variables of a global or shared variable
};

/// A family of registers: `.reg .b32 %r<100>`.
struct RegisterFamily {
  std::string prefix;
  int count;
  Type type;
};

struct Jump {
  uint32_t from;  // index of the branch in Kernel::code, or of the table in Kernel::tables
  std::string label;
};

/// `.callprototype (.param .b32 _) _ (.param .b32 _)`: sizes of results and parameters [bytes].
struct Prototype {
  std::vector<uint32_t> results, parameters;
  bool operator==(const Prototype& other) const {
    return results == other.results && parameters == other.parameters;
  }
};

struct Scope {
  StringMap<Symbol> names;
  std::vector<RegisterFamily> families;
  StringMap<uint32_t> labels;
  StringMap<std::vector<std::string>> targets;  // labels of each .branchtargets list, by its name
  StringMap<Prototype> prototypes;
  std::vector<Jump> jumps;  // branches whose labels are resolved at the end of the scope
  std::vector<Jump> tables;
  bool is_function = false;  // whether the scope hides the names of enclosing scopes
};

}  // namespace kernkit::simulator::ptx
