// SPDX-License-Identifier: Apache-2.0
// Scope: what names mean between two braces, or in a function.
#pragma once

#include <string>
#include <vector>

#include "ptx/machine/operation.h"
#include "ptx/parser/string_map.h"
#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// A register, or a variable that has an address.
struct Symbol {
  bool is_register = false;
  Type type = Type::kNone;
  uint32_t number = 0;  // of a register
  Space space = Space::kGeneric;
  uint64_t address = 0;       // in its space
  bool is_parameter = false;  // of the kernel or a function: its address is a generic one
  bool in_frame = false;      // its address is one from the frame on
  uint32_t variable = kNone;  // of global or shared memory: its number in Kernel::variables
};

/// `.reg .b32 %r<100>`
struct RegisterFamily {
  std::string prefix;
  int count;
  Type type;
};

struct Jump {
  uint32_t from;  // an operation
  std::string label;
};

/// `.callprototype (.param .b32 _) _ (.param .b32 _)`: bytes
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
  StringMap<std::vector<std::string>> targets;  // .branchtargets
  StringMap<Prototype> prototypes;
  std::vector<Jump> jumps;  // to labels not yet seen
  std::vector<Jump> tables;
  bool is_function = false;  // names of scopes around it are not seen
};

}  // namespace kernkit::simulator::ptx
