// SPDX-License-Identifier: Apache-2.0
// Module: what PTX text says, before anything of it is decoded. Bodies of functions are read when
// they are needed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// A place in the source, from .loc; line 0: unknown.
struct SourceLine {
  int file = 0, line = 0;
  std::shared_ptr<const SourceLine> call_site;  // of the inlined function; null: not inlined
};

struct Operand {
  enum Kind { kName, kInteger, kFloat, kDouble, kVector, kAddress, kNothing } kind = kNothing;
  std::string name;            // of an address its base; "" for none
  bool negated = false;        // !name
  uint64_t bits = 0;           // of a number
  int64_t offset = 0;          // of an address
  std::vector<Operand> parts;  // the parts of a vector, or the second name of `a|b`
};

/// A variable's first value: bytes, and addresses of other variables among them.
struct Initial {
  struct Address {
    uint32_t at;
    std::string name;
    int64_t offset;
    bool generic;
  };
  std::vector<unsigned char> bytes;
  std::vector<Address> addresses;
};

struct Variable {
  std::string space;  // "global", "const", "shared", "local", "param"
  std::string name;
  Type type = Type::kNone;
  uint32_t alignment = 1;
  uint32_t size = 0;       // bytes
  bool is_extern = false;  // declared here, or dynamic shared memory
  bool is_managed = false;
  Initial initial;
};

struct Statement {
  enum Kind {
    kOpen,
    kClose,
    kLabel,
    kRegisters,
    kVariable,
    kTargets,
    kPrototype,
    kInstruction
  } kind;
  std::string name;  // of a label or a table; of registers; of an instruction its first word
  std::vector<std::string> modifiers;  // after the first dot
  std::vector<Operand> operands;       // of a table its labels
  std::string guard;                   // "" or a predicate
  bool guard_negated = false;
  SourceLine line;
  int ptx_line = 0;
  Type type = Type::kNone;  // of registers
  int count = 0;            // of registers; 0: one without a number
  Variable variable;
  std::vector<Variable> results, parameters;  // of a prototype
  /// "ld.global.u32"
  std::string opcode() const;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  bool has_body = false;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  uint64_t max_threads = 0;  // of a block, by .maxntid or .reqntid; 0: not limited
  std::string_view body;
  int body_line = 0;
};

struct Module {
  std::string text;  // that views point into
  std::map<std::string, Function> functions;
  std::vector<Variable> variables;
  std::map<int, std::string> files;
  int capability = 0;  // 80 for .target sm_80

  /// The number of a function that can be called, from 1 on; 0 for an undefined name.
  uint32_t function_number(const std::string& name) const;
  /// "scale.cu:12", or "math.h:3 (inlined at row.h:7, scale.cu:12)" with every call site of inlined
  /// functions up to the kernel or the called function; "" without a .loc.
  std::string place(const SourceLine& line) const;
};

}  // namespace kernkit::simulator::ptx
