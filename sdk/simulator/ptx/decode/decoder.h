// SPDX-License-Identifier: Apache-2.0
// Decoder: turns the statements of a kernel into operations. A called function is inlined, unless
// it is recursive or called by its address: then it has a frame for each call.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/decode/registers.h"
#include "ptx/decode/scope.h"
#include "ptx/machine/kernel.h"
#include "ptx/parser/module.h"

namespace kernkit::simulator::ptx {

/// The addresses of a module's variables.
class Addresses {
 public:
  virtual ~Addresses() = default;
  /// False when there is none of this name.
  virtual bool find(const std::string& name, uint64_t* address) const = 0;
};

class Decoder {
 public:
  Decoder(const Module& module, const Function& kernel, const Addresses& addresses);
  /// Throws UnsupportedPtx for a form that is unsupported.
  Kernel decode();

  // For semantics, about the instruction that is being decoded.
  Operation operation;

  std::string_view name() const { return statement_->name; }
  /// Whether it has this modifier: "sat".
  bool has(std::string_view modifier);
  /// The first of these that it has; "" for none.
  std::string_view one_of(std::initializer_list<std::string_view> modifiers);
  /// The next unused modifier, if it is one of these; for modifiers that may occur several times.
  std::string_view next_of(std::initializer_list<std::string_view> modifiers);
  /// The next modifier that is a type.
  Type type();
  size_t operands() const { return statement_->operands.size(); }
  void need_operands(size_t count) const;
  const Operand& operand(size_t i) const;
  /// The register that operand i names, of exactly the type's size.
  uint32_t to(size_t i, Type type) { return to(operand(i), type); }
  uint32_t to(const Operand& operand, Type type);
  /// Likewise; an immediate or an address becomes a register that holds the value.
  uint32_t from(size_t i, Type type) { return from(operand(i), type); }
  uint32_t from(const Operand& operand, Type type);
  /// A predicate, or its negation (`operation.negated`).
  uint32_t predicate_from(size_t i);
  uint32_t constant(uint64_t bits, Type type);
  /// The predicate that is the carry of CC.
  uint32_t carry();
  /// Sets dst, src0, src1 and src2, as far as there are operands, all of one type.
  void take(Type type);
  /// Sets dst and src0 to src3, each of its type.
  void take(std::initializer_list<Type> types);
  /// Sets the operation's list of registers of 32 bits: those it writes, then those it reads.
  void take_list(std::vector<uint32_t> registers);
  /// Sets address, its size, the offset and the space of the operation.
  void address(size_t i, Space space);
  /// The space that a modifier names; kGeneric without one.
  Space space();
  /// kNone for what is no register.
  Type type_of_register(const Operand& operand);
  /// The offset of a local variable or of a function's parameter from `operation.address`.
  uint64_t local_place(const Operand& operand);
  void branch(size_t label);
  void branch_by_table();
  void call();
  void leave_function();
  [[noreturn]] void reject(std::string_view why) const;

 private:
  void decode_function(const Function& function);
  void decode_statement(const Statement& statement);
  void decode_instruction(const Statement& statement);
  void decode_called(uint32_t number);
  void inline_call(const Function& function);
  void call_with_frame(const Function* function);
  uint32_t with_frame(const Function& function);
  uint32_t frame();
  const Prototype& prototype(const std::string& name) const;
  Symbol local_variable(const Variable& variable);
  void declare(const Variable& variable);
  void open(bool is_function);
  void close();
  uint32_t emit();
  Origin origin() const;
  const Symbol* find(const std::string& name);
  const Symbol& symbol_of(const Operand& operand);
  const Symbol* module_variable(const std::string& name);
  uint32_t special(const std::string& name);
  uint32_t place_in(uint32_t* bytes, const Variable& variable) const;
  void place_shared(const Variable& variable, Symbol* symbol);
  bool is_dynamic(uint32_t variable) const;
  std::string where() const;

  const Module& module_;
  const Function& function_;
  const Addresses& addresses_;
  Kernel kernel_;
  Registers registers_;
  uint32_t carry_ = kNone;
  uint32_t dynamic_alignment_ = 1;  // of dynamic shared memory that the kernel names, in bytes
  std::vector<Scope> scopes_;
  std::vector<const Function*> called_;  // the innermost last
  std::vector<const Function*> framed_;  // those of kernel_.functions
  uint32_t decoded_ = kNone;             // the one of them that is decoded; kNone: the kernel
  StringMap<Symbol> module_names_;
  const Statement* statement_ = nullptr;
  std::vector<bool> used_;                    // modifiers
  const Instruction* instruction_ = nullptr;  // the row of the statement at hand
};

/// The operation's `to` becomes `a` and the offset: of the family of addresses.
void add_offset(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
