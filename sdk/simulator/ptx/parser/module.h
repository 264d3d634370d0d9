// SPDX-License-Identifier: Apache-2.0
// Module: parsed PTX text, before decoding. Bodies of functions are parsed on demand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// A source location from .loc; line 0 is unknown.
struct SourceLine {
  int file = 0, line = 0;
  std::shared_ptr<const SourceLine> call_site;  // call site of an inlined function, or null
};

struct Operand {
  enum Kind { kName, kInteger, kFloat, kDouble, kVector, kAddress, kNothing } kind = kNothing;
  std::string name;            // name, or base of an address; "" without a base
  bool negated = false;        // whether the operand is `!name`
  uint64_t bits = 0;           // bits of a number
  int64_t offset = 0;          // offset of an address [bytes]
  std::vector<Operand> parts;  // parts of a vector, second name of `a|b`, coordinates of an address
};

/// The initial value of a variable: its bytes, and the addresses of variables to store in them.
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
  uint32_t size = 0;       // size of the variable [bytes]
  bool is_extern = false;  // whether the variable is declared as .extern
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
  std::string name;                    // name of a label, table or registers; mnemonic
  std::vector<std::string> modifiers;  // modifiers without dots
  std::vector<Operand> operands;       // operands, or labels of a table
  std::string guard;                   // predicate of the guard; "" without a guard
  bool guard_negated = false;
  SourceLine line;
  int ptx_line = 0;
  Type type = Type::kNone;  // type of registers
  int count = 0;            // number of registers; 0 for a single register without a number
  Variable variable;
  std::vector<Variable> results, parameters;  // results and parameters of a prototype
  /// Returns the mnemonic with its modifiers: "ld.global.u32".
  std::string opcode() const;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  bool has_body = false;
  std::vector<Variable> parameters;
  std::vector<Variable> results;
  uint64_t max_threads = 0;  // limit on threads of a block by .maxntid or .reqntid; 0: none
  uint32_t cluster[3] = {};  // blocks of a cluster by .reqnctapercluster; 0: no directive
  std::string_view body;
  int body_line = 0;
};

struct Module {
  std::string text;  // PTX text to which the string views refer
  std::map<std::string, Function> functions;
  std::vector<Variable> variables;
  std::map<int, std::string> files;
  int capability = 0;  // compute capability, 80 for .target sm_80

  /// Returns the number of a defined function or kernel, from 1 on; 0 for an undefined name.
  uint32_t function_number(const std::string& name) const;
  /// Returns the defined function or kernel with a number; null for other numbers.
  const Function* function_at(uint32_t number) const;
  /// Describes a source line: "scale.cu:12", or "math.h:3 (inlined at row.h:7, scale.cu:12)" with
  /// the call sites of all enclosing inlined functions; "" without a .loc.
  std::string location_text(const SourceLine& line) const;
};

}  // namespace kernkit::simulator::ptx
