// SPDX-License-Identifier: Apache-2.0
// Decoder: translates the statements of a kernel into operations. A called function is inlined,
// except a recursive function or a function called by its address, which has a frame for each call.
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

/// Interface that provides the addresses of a module's variables.
class Addresses {
 public:
  virtual ~Addresses() = default;
  /// Finds a variable by its name and stores its address. Returns false if the module has no such
  /// variable.
  virtual bool find(const std::string& name, uint64_t* address) const = 0;
};

/// The properties of an instruction that its opcode determines.
struct Form {
  std::vector<bool> ignored;  // ignored[i]: whether the simulator ignores modifier i
  Origin origin;              // origin of the operations; Decoder::origin() sets line and access
  bool is_constant = false;   // whether a modifier is "const"
};

class Decoder {
 public:
  Decoder(const Module& module, const Function& kernel, const Addresses& addresses);
  /// Returns the decoded kernel. Throws UnsupportedPtx for an unsupported form.
  Kernel decode();

  // The functions of isa/semantics.h use the following members to decode the current instruction.
  Operation operation;

  std::string_view name() const { return statement_->name; }
  /// Returns whether the instruction has a modifier, such as "sat". In PTX for sm_10 to sm_13,
  /// every .f32 form has "ftz".
  bool has(std::string_view modifier);
  /// Returns whether the module's target is sm_10 to sm_13.
  bool is_for_first_devices() const;
  /// Returns the first element of `modifiers` that the instruction has; "" if it has none.
  std::string_view one_of(std::initializer_list<std::string_view> modifiers);
  /// Returns the first unread modifier if `modifiers` contains it, else "". Use this function for
  /// modifiers that can occur several times, such as .row.
  std::string_view next_of(std::initializer_list<std::string_view> modifiers);
  /// Returns the first unread modifier that is a type.
  Type type();
  size_t operands() const { return statement_->operands.size(); }
  void need_operands(size_t count) const;
  /// Requires `count` operands, followed by a cache policy if the form has .L2::cache_hint. The
  /// policy has no effect on values.
  void need_operands_and_policy(size_t count);
  const Operand& operand(size_t i) const;
  /// Returns the register of operand i, which must have the type's size.
  uint32_t to(size_t i, Type type) { return to(operand(i), type); }
  uint32_t to(const Operand& operand, Type type);
  /// Returns the register of source operand i. For an immediate or an address, returns a register
  /// with this constant.
  uint32_t from(size_t i, Type type) { return from(operand(i), type); }
  uint32_t from(const Operand& operand, Type type);
  /// Emits `operation` for one part of an instruction that needs several operations. The semantics
  /// function of the instruction emits all parts but the last with emit_part(), and returns the Run
  /// of the last part.
  void emit_part(Run run);
  /// Returns the register of predicate operand i, and sets `operation.negated`.
  uint32_t predicate_from(size_t i);
  uint32_t constant(uint64_t bits, Type type);
  /// Returns a new 32-bit register: `yes` in the lanes in which the predicate of operand i holds,
  /// `no` in other lanes. Emits an operation that computes the register.
  uint32_t selected(size_t i, uint32_t yes, uint32_t no);
  /// Returns the predicate register of the carry flag CC.CF.
  uint32_t carry();
  /// Sets dst, src0, src1 and src2 from the operands, all of one type.
  void take(Type type);
  /// Sets dst and src0 to src3 from the operands, with one type each.
  void take(std::initializer_list<Type> types);
  /// Sets the operation's list of 32-bit registers: results, then sources.
  void take_list(std::vector<uint32_t> registers);
  /// Sets the operation's address register, the size of this register, the offset and the space
  /// from operand i, an address in `space`.
  void address(size_t i, Space space);
  /// Returns a new 64-bit register with the address in operand i: an address within `space`, or the
  /// generic address for kGeneric. Emits an operation that computes the register.
  uint32_t address_value(size_t i, Space space);
  /// Returns the state space of a modifier such as .shared; kGeneric without such a modifier.
  Space space();
  /// Returns the type of a register operand; kNone for other operands.
  Type type_of_register(const Operand& operand);
  /// Returns the offset of a local variable or parameter [bytes]. If the offset is relative to the
  /// function's frame, sets `operation.address` to the register that contains the start of the
  /// frame.
  uint64_t local_address(const Operand& operand);
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
  const Form& form(const Statement& statement);
  Origin origin() const;
  const Symbol* find(const std::string& name);
  const Symbol& symbol_of(const Operand& operand);
  const Symbol* module_variable(const std::string& name);
  uint32_t special(const std::string& name, bool is_narrow);
  uint32_t place_in(uint32_t* bytes, const Variable& variable) const;
  void place_shared(const Variable& variable, Symbol* symbol);
  bool is_dynamic(uint32_t variable) const;
  std::string location_text() const;

  const Module& module_;
  const Function& function_;
  const Addresses& addresses_;
  Kernel kernel_;
  Registers registers_;
  uint32_t carry_ = kNone;
  uint32_t dynamic_alignment_ = 1;  // alignment of dynamic shared memory [bytes]
  std::vector<Scope> scopes_;
  std::vector<const Function*> called_;  // functions being inlined, innermost last
  std::vector<const Function*> framed_;  // functions with frames, in the order of kernel_.functions
  uint32_t decoded_ = kNone;  // index of the current function in framed_; kNone for the kernel
  StringMap<Symbol> module_names_;
  const Statement* statement_ = nullptr;
  std::vector<bool> used_;      // used_[i]: whether modifier i was read or is ignored
  const Form* form_ = nullptr;  // form of the current statement
  StringMap<Form> forms_;       // forms of the kernel, by opcode
};

/// Computes dst = src0 + offset, for addresses.
void add_offset(Warp& warp, const Operation& operation);
/// Stores the address of the operation's address operand in dst, a 64-bit register.
void compute_address(Warp& warp, const Operation& operation);
/// Sets the 32-bit register dst to src0 in lanes where the predicate src2 holds, else to src1.
void select_word(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
