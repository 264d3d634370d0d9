// SPDX-License-Identifier: Apache-2.0
// Decoder: statements, functions and scopes.
#include "ptx/decode/decoder.h"

#include <algorithm>
#include <utility>

#include "ptx/decode/variable_addresses.h"
#include "ptx/parser/parser.h"
#include "ptx/parser/unsupported.h"
#include "ptx/simd/steps.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr const char* kEnd = "%end";  // label at the end of an inlined function

uint32_t rounded_up(uint32_t bytes, uint32_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::vector<uint32_t> sizes_of(const std::vector<Variable>& variables) {
  std::vector<uint32_t> sizes;
  sizes.reserve(variables.size());
  for (const Variable& variable : variables) sizes.push_back(variable.size);
  return sizes;
}

}  // namespace

Decoder::Decoder(const Module& module, const Function& kernel, const Addresses& addresses)
    : module_(module), function_(kernel), addresses_(addresses) {
  kernel_.name = kernel.name;
}

Kernel Decoder::decode() {
  open(true);
  for (const Variable& variable : function_.parameters) {
    Symbol symbol;
    symbol.space = Space::kParam;
    symbol.is_parameter = true;
    symbol.address = place_in(&kernel_.parameter_bytes, variable);
    scopes_.back().names[variable.name] = symbol;
    kernel_.parameters.push_back({static_cast<uint32_t>(symbol.address), variable.size});
  }
  decode_function(function_);
  close();
  for (uint32_t i = 0; i < framed_.size(); ++i) decode_called(i);
  kernel_.frame_bytes = kernel_.local_bytes;
  if (!framed_.empty()) kernel_.local_bytes += kStackBytes;
  uint32_t& shared = kernel_.shared_bytes;
  shared = rounded_up(shared, dynamic_alignment_);
  for (KernelVariable& variable : kernel_.variables) {
    if (variable.kind == KernelVariable::kDynamic) variable.begin = shared;
  }
  for (Constant& constant : kernel_.constants) {
    if (is_dynamic(constant.variable)) constant.bits += shared;
  }
  find_variables(registers_.count(), &kernel_);
  registers_.assign_slots(&kernel_);
  for (Operation& compiled : kernel_.code) {
    const Instruction* row = kernel_.origins[compiled.number].instruction;
    if (row != nullptr) compiled.run = fastest(compiled.run, row->simd_list);
  }
  return std::move(kernel_);
}

// Decodes the body of a function. Requires that the parameters of the function were declared. If
// the function is the kernel itself, emits an exit after the last statement.
void Decoder::decode_function(const Function& function) {
  const std::vector<Statement> statements = parse_body(function);
  for (const Statement& statement : statements) decode_statement(statement);
  statement_ = nullptr;
  if (!called_.empty()) return;
  operation = {};
  operation.flow = Flow::kExit;
  emit();
}

// Decodes framed_[number], a function that is called with a stack frame instead of being inlined.
void Decoder::decode_called(uint32_t number) {
  const Function& function = *framed_[number];
  decoded_ = number;
  called_ = {&function};
  open(true);
  const auto parameter = [&](const Variable& variable) {
    if (variable.space != "param") {
      throw UnsupportedPtx("parameter " + variable.name + ": space ." + variable.space +
                           " is not supported; expected .param");
    }
    const Symbol symbol = local_variable(variable);
    scopes_.back().names[variable.name] = symbol;
    return Parameter{static_cast<uint32_t>(symbol.address), variable.size};
  };
  for (const Variable& variable : function.results) {
    kernel_.functions[number].results.push_back(parameter(variable));
  }
  for (const Variable& variable : function.parameters) {
    kernel_.functions[number].parameters.push_back(parameter(variable));
  }
  kernel_.functions[number].entry = static_cast<uint32_t>(kernel_.code.size());
  decode_function(function);
  operation = {};
  operation.flow = Flow::kReturn;
  emit();
  close();
  called_.clear();
}

void Decoder::open(bool is_function) {
  scopes_.emplace_back();
  scopes_.back().is_function = is_function;
}

// Removes the innermost scope and resolves its jumps. A jump to a label outside the scope is passed
// to the enclosing scope.
void Decoder::close() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  const auto number_of = [&](const Jump& jump) {
    if (const uint32_t* label = scope.labels.find(jump.label)) return *label;
    if (scope.is_function) throw UnsupportedPtx("undefined label " + jump.label);
    return kNone;
  };
  for (const Jump& jump : scope.jumps) {
    const uint32_t target = number_of(jump);
    if (target != kNone) {
      kernel_.code[jump.from].target = target;
    } else {
      scopes_.back().jumps.push_back(jump);
    }
  }
  for (const Jump& jump : scope.tables) {  // resolves the entries of branch tables, in table order
    const uint32_t target = number_of(jump);
    if (target == kNone)
      throw UnsupportedPtx("label " + jump.label + " is outside the scope of its table");
    kernel_.tables[jump.from].push_back(target);
  }
}

void Decoder::decode_statement(const Statement& statement) {
  switch (statement.kind) {
    case Statement::kOpen: return open(false);
    case Statement::kClose: return close();
    case Statement::kLabel:
      scopes_.back().labels[statement.name] = static_cast<uint32_t>(kernel_.code.size());
      return;
    case Statement::kTargets: {
      auto& labels = scopes_.back().targets[statement.name];
      for (const Operand& label : statement.operands) labels.push_back(label.name);
      return;
    }
    case Statement::kPrototype:
      scopes_.back().prototypes[statement.name] = {sizes_of(statement.results),
                                                   sizes_of(statement.parameters)};
      return;
    case Statement::kRegisters:
      if (statement.count != 0) {
        scopes_.back().families.push_back({statement.name, statement.count, statement.type});
      } else {
        Symbol symbol;
        symbol.is_register = true;
        symbol.type = statement.type;
        symbol.number = registers_.add(statement.type);
        scopes_.back().names[statement.name] = symbol;
      }
      return;
    case Statement::kVariable: return declare(statement.variable);
    case Statement::kInstruction: return decode_instruction(statement);
  }
}

uint32_t Decoder::place_in(uint32_t* bytes, const Variable& variable) const {
  const uint32_t at = rounded_up(*bytes, variable.alignment);
  *bytes = at + variable.size;
  return at;
}

Symbol Decoder::local_variable(const Variable& variable) {
  Symbol symbol;
  symbol.type = variable.type;
  symbol.space = Space::kLocal;
  symbol.is_parameter = variable.space == "param";
  symbol.in_frame = decoded_ != kNone;
  symbol.address = place_in(
      symbol.in_frame ? &kernel_.functions[decoded_].frame_bytes : &kernel_.local_bytes, variable);
  return symbol;
}

void Decoder::declare(const Variable& variable) {
  Symbol symbol;
  symbol.type = variable.type;
  if (variable.space == "shared") {
    place_shared(variable, &symbol);
  } else if (variable.space == "local" || variable.space == "param") {
    symbol = local_variable(variable);
  } else {
    throw UnsupportedPtx("variable " + variable.name + ": unsupported space ." + variable.space +
                         " in a function");
  }
  scopes_.back().names[variable.name] = symbol;
}

void Decoder::decode_instruction(const Statement& statement) {
  statement_ = &statement;
  operation = {};
  if (!statement.guard.empty()) {
    const Symbol* guard = find(statement.guard);
    if (guard == nullptr || guard->type != Type::kPred)
      reject("guard " + statement.guard + ": expected a predicate");
    operation.guard = guard->number;
    operation.guard_negated = statement.guard_negated;
  }
  form_ = &form(statement);
  used_ = form_->ignored;
  const Instruction& row = *form_->origin.instruction;
  operation.run = row.semantics(*this);
  if (operation.run == nullptr) reject("unsupported form of " + statement.name);
  for (size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i]) reject("unsupported modifier ." + statement.modifiers[i]);
  }
  if (operation.bytes != 0 && row.access == AccessKind::kNone && row.effect != Effect::kCall) {
    reject("the instruction table lists no access to memory for this form");
  }
  emit();
}

// Returns the form of an instruction. Searches the instruction table once for each opcode.
const Form& Decoder::form(const Statement& statement) {
  const std::string opcode = statement.opcode();
  if (const Form* existing = forms_.find(opcode)) return *existing;
  InstructionMatch entry = find_instruction(statement.name, statement.modifiers);
  if (!entry.is_known && uses_texture(statement.name)) {
    reject("textures and surfaces are not supported: load the data from memory of cudaMalloc()");
  }
  if (!entry.is_known) reject("unsupported instruction");
  if (!entry.unsupported.empty()) reject("unsupported modifier ." + entry.unsupported);
  if (entry.row == nullptr) reject("unsupported form of " + statement.name);
  Form& form = forms_[opcode];
  form.ignored = std::move(entry.ignored);
  form.origin.opcode = opcode;
  form.origin.instruction = entry.row;
  static constexpr std::pair<std::string_view, Ordering> kOrderings[] = {
      {"volatile", Ordering::kVolatile}, {"mmio", Ordering::kVolatile},
      {"relaxed", Ordering::kRelaxed},   {"acquire", Ordering::kAcquire},
      {"release", Ordering::kRelease},   {"acq_rel", Ordering::kAcquireRelease},
      {"sc", Ordering::kAcquireRelease}};
  static constexpr std::pair<std::string_view, ThreadScope> kScopes[] = {
      {"cta", ThreadScope::kBlock},  {"cluster", ThreadScope::kCluster},
      {"gpu", ThreadScope::kDevice}, {"gl", ThreadScope::kDevice},
      {"sys", ThreadScope::kSystem}, {"volatile", ThreadScope::kSystem},
      {"proxy", ThreadScope::kNone}};
  const auto read_order = [&](std::string_view modifier) {
    for (const auto& [name, ordering] : kOrderings) {
      if (modifier == name) form.origin.ordering = ordering;
    }
    for (const auto& [name, scope] : kScopes) {
      if (modifier == name) form.origin.scope = scope;
    }
  };
  if (entry.row->default_order != nullptr) {
    read_order(entry.row->default_order);
    read_order(entry.row->default_scope);
  }
  for (const std::string& modifier : statement.modifiers) {
    read_order(modifier);
    if (modifier == "cv") form.origin.is_uncached = true;
    if (modifier == "const") form.is_constant = true;
    const Type type = type_named(modifier);
    if (type != Type::kNone) form.origin.type = type;
  }
  return form;
}

Origin Decoder::origin() const {
  if (statement_ == nullptr) return {};
  Origin origin = form_->origin;
  origin.line = statement_->line;
  const bool is_memory =
      operation.bytes != 0 && operation.space != Space::kParam && !form_->is_constant;
  if (is_memory) origin.access = origin.instruction->access;
  return origin;
}

uint32_t Decoder::emit() {
  const auto number = static_cast<uint32_t>(kernel_.code.size());
  operation.number = number;
  kernel_.code.push_back(operation);
  kernel_.origins.push_back(origin());
  return number;
}

void Decoder::branch(size_t label) {
  operation.flow = Flow::kBranch;
  const Operand& target = operand(label);
  if (target.kind != Operand::kName) reject("expected a label");
  scopes_.back().jumps.push_back({static_cast<uint32_t>(kernel_.code.size()), target.name});
}

void Decoder::branch_by_table() {
  operation.flow = Flow::kTable;
  operation.src0 = from(0, Type::kU32);
  operation.target = static_cast<uint32_t>(kernel_.tables.size());
  const std::string& name = operand(1).name;
  kernel_.tables.emplace_back();
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const std::vector<std::string>* table = scope->targets.find(name)) {
      for (const std::string& label : *table) {
        scope->tables.push_back({operation.target, label});
      }
      return;
    }
    if (scope->is_function) break;
  }
  reject("undefined table of labels " + name);
}

void Decoder::leave_function() {
  const bool has_frame = decoded_ != kNone && called_.size() == 1;
  operation.flow = called_.empty() ? Flow::kExit : has_frame ? Flow::kReturn : Flow::kBranch;
  if (called_.empty() || has_frame) return;
  scopes_.back().jumps.push_back({static_cast<uint32_t>(kernel_.code.size()), kEnd});
}

// Decodes call (results), function, (parameters){, prototype}.
void Decoder::call() {
  const Operand& callee = operand(operand(0).kind == Operand::kVector ? 1 : 0);
  const auto position = module_.functions.find(callee.name);
  if (position == module_.functions.end()) return call_with_frame(nullptr);
  const Function& function = position->second;
  if (!function.has_body) reject("undefined function " + callee.name);
  if (std::find(called_.begin(), called_.end(), &function) != called_.end()) {
    return call_with_frame(&function);
  }
  inline_call(function);
}

const Prototype& Decoder::prototype(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const Prototype* declared = scope->prototypes.find(name)) return *declared;
    if (scope->is_function) break;
  }
  reject("undefined prototype " + name);
}

// Returns the index of a function in framed_. Adds the function if framed_ lacks it.
uint32_t Decoder::with_frame(const Function& function) {
  const auto position = std::find(framed_.begin(), framed_.end(), &function);
  const auto number = static_cast<uint32_t>(position - framed_.begin());
  if (position != framed_.end()) return number;
  framed_.push_back(&function);
  kernel_.functions.emplace_back();
  kernel_.functions.back().number = module_.function_number(function.name);
  frame();
  return number;
}

// Decodes a call that creates a stack frame. If `function` is null, the call is by address, and can
// reach every function that matches the prototype of the call.
void Decoder::call_with_frame(const Function* function) {
  const bool has_results = operand(0).kind == Operand::kVector;
  size_t next = has_results ? 1 : 0;
  CallSite site;
  site.caller = decoded_;
  Prototype shape;
  const Operand& callee = operand(next++);
  const auto addresses = [&](const Operand& list) {
    std::vector<uint32_t> all;
    for (const Operand& argument : list.parts) {
      const Symbol& symbol = symbol_of(argument);
      if (symbol.is_register || symbol.space != Space::kLocal) {
        reject("argument " + argument.name + ": expected a .param or .local variable, found " +
               (symbol.is_register ? "a register" : "a variable of another space"));
      }
      all.push_back(static_cast<uint32_t>(symbol.address));
    }
    return all;
  };
  if (has_results) site.results = addresses(operand(0));
  if (next < operands() && operand(next).kind == Operand::kVector) {
    site.parameters = addresses(operand(next++));
  }
  if (function != nullptr) {
    shape = {sizes_of(function->results), sizes_of(function->parameters)};
    site.function = with_frame(*function);
  } else {
    operation.src0 = from(callee, Type::kU64);
    shape = prototype(operand(next).name);
    for (const auto& [name, callable] : module_.functions) {
      const Prototype callable_shape{sizes_of(callable.results), sizes_of(callable.parameters)};
      const bool is_function = !callable.is_kernel && module_.function_number(name) != 0;
      if (is_function && callable_shape == shape) with_frame(callable);
    }
    frame();
  }
  if (shape.results.size() != site.results.size() ||
      shape.parameters.size() != site.parameters.size()) {
    reject("the arguments do not match the parameters of function " + callee.name);
  }
  operation.flow = Flow::kCall;
  operation.target = static_cast<uint32_t>(kernel_.calls.size());
  kernel_.calls.push_back(std::move(site));
}

void Decoder::inline_call(const Function& function) {
  const bool has_results = operand(0).kind == Operand::kVector;
  Scope names;
  const auto bind = [&](const std::vector<Variable>& formal, const Operand* actual) {
    const size_t count = actual != nullptr ? actual->parts.size() : 0;
    if (formal.size() != count)
      reject("the arguments do not match the parameters of function " + function.name);
    for (size_t i = 0; i < count; ++i) {
      const Symbol& symbol = symbol_of(actual->parts[i]);
      if (symbol.is_register || formal[i].space != "param") {
        reject("argument " + actual->parts[i].name +
               ": parameters in registers are not supported; expected .param");
      }
      names.names[formal[i].name] = symbol;
    }
  };
  const size_t last = has_results ? 2 : 1;
  bind(function.results, has_results ? &operand(0) : nullptr);
  bind(function.parameters, operands() > last ? &operand(last) : nullptr);

  const Statement* const call_site = statement_;
  const std::vector<bool> used = used_;
  const Form* const form = form_;
  uint32_t skip = kNone;  // number of the branch past the inlined function
  if (operation.guard != kNone) {
    operation.flow = Flow::kBranch;
    operation.guard_negated = !operation.guard_negated;
    skip = emit();
  }
  names.is_function = true;
  scopes_.push_back(std::move(names));
  called_.push_back(&function);
  decode_function(function);
  called_.pop_back();
  scopes_.back().labels[kEnd] = static_cast<uint32_t>(kernel_.code.size());
  close();
  if (skip != kNone) kernel_.code[skip].target = static_cast<uint32_t>(kernel_.code.size());
  statement_ = call_site;
  used_ = used;
  form_ = form;
  operation = {};
}

std::string Decoder::location_text() const {
  const std::string location = module_.location_text(statement_->line);
  return location.empty() ? "line " + std::to_string(statement_->ptx_line) + " of the PTX"
                          : location;
}

void Decoder::reject(std::string_view why) const {
  throw UnsupportedPtx(statement_->opcode() + " (" + location_text() + "): " + std::string(why));
}

}  // namespace kernkit::simulator::ptx
