// SPDX-License-Identifier: Apache-2.0
// Decoder: modifiers and operands.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ptx/decode/decoder.h"
#include "ptx/machine/special_registers.h"
#include "ptx/machine/window.h"

namespace kernkit::simulator::ptx {
namespace {

constexpr uint32_t kDynamicAlignment = 16;  // least alignment of dynamic shared memory [bytes]
// Symbol whose value is the offset of the shared memory that is reserved for cooperative groups.
// Compiled code can require 288 reserved bytes.
constexpr const char* kReserved = "%reserved_smem_offset_1";
constexpr uint32_t kReservedBytes = 512;

std::string size_text(Type type) {
  return type == Type::kPred ? "a predicate" : std::to_string(8 * register_size(type)) + " bits";
}
std::string size_message(const std::string& operand, Type expected, Type actual) {
  return "operand " + operand + ": expected " + size_text(expected) + ", found " +
         size_text(actual);
}

}  // namespace

bool Decoder::has(std::string_view modifier) {
  for (size_t i = 0; i < used_.size(); ++i) {
    if (statement_->modifiers[i] != modifier) continue;
    used_[i] = true;
    return true;
  }
  if (modifier != "ftz" || !is_for_first_devices()) return false;
  const std::vector<std::string>& modifiers = statement_->modifiers;
  return std::find(modifiers.begin(), modifiers.end(), "f32") != modifiers.end();
}

bool Decoder::is_for_first_devices() const {
  return module_.capability > 0 && module_.capability < 20;
}

std::string_view Decoder::one_of(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view modifier : modifiers) {
    if (has(modifier)) return modifier;
  }
  return "";
}

std::string_view Decoder::next_of(std::initializer_list<std::string_view> modifiers) {
  const auto next = std::find(used_.begin(), used_.end(), false);
  const auto i = static_cast<size_t>(next - used_.begin());
  for (const std::string_view modifier : modifiers) {
    if (next == used_.end() || statement_->modifiers[i] != modifier) continue;
    *next = true;
    return modifier;
  }
  return "";
}

Type Decoder::type() {
  for (size_t i = 0; i < used_.size(); ++i) {
    const Type type = used_[i] ? Type::kNone : type_named(statement_->modifiers[i]);
    if (type == Type::kNone) continue;
    used_[i] = true;
    return type;
  }
  reject("expected a type");
}

void Decoder::need_operands(size_t count) const {
  if (operands() != count)
    reject("expected " + std::to_string(count) + " operands, found " + std::to_string(operands()));
}

void Decoder::need_operands_and_policy(size_t count) {
  const bool has_policy = has("L2::cache_hint");
  need_operands(count + (has_policy ? 1 : 0));
  if (has_policy) from(count, Type::kB64);
}

const Operand& Decoder::operand(size_t i) const {
  if (i >= operands()) reject("too few operands: found " + std::to_string(operands()));
  return statement_->operands[i];
}

const Symbol* Decoder::find(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const Symbol* symbol = scope->names.find(name)) return symbol;
    for (const RegisterFamily& family : scope->families) {
      const size_t size = family.prefix.size();
      if (name.size() <= size || name.compare(0, size, family.prefix) != 0) continue;
      if (!std::isdigit(static_cast<unsigned char>(name[size]))) continue;
      char* end = nullptr;
      const long number = std::strtol(name.c_str() + size, &end, 10);
      if (*end != '\0' || number >= family.count) continue;
      Symbol symbol;
      symbol.is_register = true;
      symbol.type = family.type;
      symbol.number = registers_.add(family.type);
      return &(scope->names[name] = symbol);
    }
    if (scope->is_function) break;
  }
  return nullptr;
}

const Symbol* Decoder::module_variable(const std::string& name) {
  if (const Symbol* symbol = module_names_.find(name)) return symbol;
  for (const Variable& variable : module_.variables) {
    if (variable.name != name) continue;
    Symbol symbol;
    symbol.type = variable.type;
    if (variable.space == "shared") {
      place_shared(variable, &symbol);
    } else {
      symbol.space = Space::kGlobal;
      if (!addresses_.find(name, &symbol.address)) reject("unknown variable " + name);
      symbol.variable = static_cast<uint32_t>(kernel_.variables.size());
      kernel_.variables.push_back({KernelVariable::kGlobal, name, symbol.address, variable.size,
                                   variable.space == "const"});
    }
    return &(module_names_[name] = symbol);
  }
  if (name != kReserved) return nullptr;
  Variable reserved;
  reserved.space = "shared";
  reserved.name = name;
  reserved.type = Type::kB8;
  reserved.alignment = kDynamicAlignment;
  reserved.size = kernel_.reserved_bytes = kReservedBytes;
  Symbol symbol;
  symbol.type = reserved.type;
  place_shared(reserved, &symbol);
  kernel_.reserved_begin = static_cast<uint32_t>(symbol.address);
  return &(module_names_[name] = symbol);
}

void Decoder::place_shared(const Variable& variable, Symbol* symbol) {
  const bool dynamic = variable.size == 0;
  symbol->space = Space::kShared;
  if (dynamic) {
    dynamic_alignment_ = std::max({dynamic_alignment_, kDynamicAlignment, variable.alignment});
  } else {
    symbol->address = place_in(&kernel_.shared_bytes, variable);
  }
  symbol->variable = static_cast<uint32_t>(kernel_.variables.size());
  kernel_.variables.push_back({dynamic ? KernelVariable::kDynamic : KernelVariable::kShared,
                               variable.name, symbol->address, variable.size});
}

bool Decoder::is_dynamic(uint32_t variable) const {
  return variable != kNone && kernel_.variables[variable].kind == KernelVariable::kDynamic;
}

const Symbol& Decoder::symbol_of(const Operand& operand) {
  if (operand.kind != Operand::kName) reject("expected a name");
  const Symbol* symbol = find(operand.name);
  if (symbol == nullptr) symbol = module_variable(operand.name);
  if (symbol == nullptr) reject("unknown name " + operand.name);
  return *symbol;
}

Type Decoder::type_of_register(const Operand& operand) {
  const Symbol* symbol = operand.kind == Operand::kName ? find(operand.name) : nullptr;
  return symbol != nullptr && symbol->is_register ? symbol->type : Type::kNone;
}

uint32_t Decoder::to(const Operand& operand, Type type) {
  const Symbol& symbol = symbol_of(operand);
  if (!symbol.is_register || register_size(symbol.type) != register_size(type)) {
    reject(symbol.is_register ? size_message(operand.name, type, symbol.type)
                              : "operand " + operand.name + ": expected a register");
  }
  return symbol.number;
}

uint32_t Decoder::special(const std::string& name, bool is_narrow) {
  for (const SpecialRegister& existing : kernel_.specials) {
    if (existing.which == special_named(name) && existing.is_narrow == is_narrow) {
      return existing.at;
    }
  }
  const uint32_t number = registers_.add(is_narrow ? Type::kU16 : type_of_special(name));
  kernel_.specials.push_back({special_named(name), number, is_narrow});
  return number;
}

uint32_t Decoder::constant(uint64_t bits, Type type) {
  const uint32_t size = register_size(type);
  if (size < 8) bits &= (uint64_t{1} << 8 * size) - 1;
  return registers_.constant(bits, size, &kernel_);
}

uint32_t Decoder::selected(size_t i, uint32_t yes, uint32_t no) {
  const Operation saved = operation;
  operation = {};
  operation.run = select_word;
  operation.src2 = predicate_from(i);
  operation.src0 = constant(yes, Type::kU32);
  operation.src1 = constant(no, Type::kU32);
  operation.dst = registers_.add(Type::kU32);
  const uint32_t number = operation.dst;
  emit();
  operation = saved;
  return number;
}

void Decoder::emit_part(Run run) {
  operation.run = run;
  emit();
}

uint32_t Decoder::frame() {
  if (kernel_.frame == kNone) kernel_.frame = registers_.add(Type::kU64);
  return kernel_.frame;
}

uint32_t Decoder::carry() {
  if (carry_ == kNone) carry_ = registers_.add(Type::kPred);
  return carry_;
}

uint32_t Decoder::from(const Operand& operand, Type type) {
  // A 128-bit operand must be a register, since constants have at most 64 bits.
  if (type == Type::kB128) return to(operand, type);
  switch (operand.kind) {
    case Operand::kInteger:
      if (type == Type::kPred) return registers_.constant(operand.bits != 0, 0, &kernel_);
      if (type == Type::kF32 || type == Type::kF64) reject("expected a floating-point literal");
      return constant(operand.bits, type);
    case Operand::kFloat:
    case Operand::kDouble: {
      double value;
      float narrow;
      if (operand.kind == Operand::kFloat) {
        std::memcpy(&narrow, &operand.bits, sizeof(narrow));
        value = narrow;
      } else {
        std::memcpy(&value, &operand.bits, sizeof(value));
        narrow = static_cast<float>(value);
      }
      uint64_t bits = 0;
      const uint32_t size = size_of(type);
      if (size != 4 && size != 8) reject("a floating-point literal does not fit the type");
      const bool same = size == (operand.kind == Operand::kFloat ? 4u : 8u);
      if (same) return constant(operand.bits, type);
      std::memcpy(&bits, size == 4 ? static_cast<void*>(&narrow) : &value, size);
      return constant(bits, type);
    }
    case Operand::kName: break;
    default: reject("unsupported kind of operand");
  }
  if (operand.negated) reject("unsupported negation of an operand");
  if (type_of_special(operand.name) != Type::kNone) {
    // PTX ISA, "%tid": a 16-bit mov or cvt reads the lower half of the register, as in PTX ISA 1.
    const bool is_narrow = register_size(type) == 2 && (name() == "mov" || name() == "cvt") &&
                           has_narrow_form(operand.name);
    if (!is_narrow && register_size(type_of_special(operand.name)) != register_size(type)) {
      reject(size_message(operand.name, type, type_of_special(operand.name)));
    }
    return special(operand.name, is_narrow);
  }
  const uint32_t size = register_size(type);
  const uint32_t function =
      find(operand.name) == nullptr ? module_.function_number(operand.name) : 0;
  if (function != 0 && size == 8) return constant(address_of_function(function), type);
  const Symbol& symbol = symbol_of(operand);
  if (symbol.is_register) return to(operand, type);
  const bool fits = size == 8 || (size == 4 && symbol.space != Space::kGlobal);
  const auto reject_size = [&](const char* expected) {
    reject("operand " + operand.name + ": its address needs " + expected + ", found " +
           size_text(type));
  };
  if (!fits) reject_size(symbol.space == Space::kGlobal ? "64 bits" : "32 or 64 bits");
  uint64_t bits = symbol.address;
  if (symbol.is_parameter) bits += symbol.space == Space::kParam ? kParamWindow : kLocalWindow;
  if (symbol.in_frame) {
    if (size != 8) reject_size("64 bits");
    const Operation saved = operation;
    operation = {};
    operation.run = add_offset;
    operation.src0 = frame();
    operation.dst = registers_.add(Type::kU64);
    operation.offset = static_cast<int64_t>(bits);
    const uint32_t number = operation.dst;
    emit();
    operation = saved;
    return number;
  }
  return registers_.constant(bits, size, &kernel_, symbol.variable);
}

void Decoder::take(Type type) {
  operation.dst = to(0, type);
  if (operands() > 1) operation.src0 = from(1, type);
  if (operands() > 2) operation.src1 = from(2, type);
  if (operands() > 3) operation.src2 = from(3, type);
}

void Decoder::take(std::initializer_list<Type> types) {
  uint32_t* const sources[] = {&operation.src0, &operation.src1, &operation.src2, &operation.src3};
  operation.dst = to(0, *types.begin());
  for (size_t i = 1; i < types.size(); ++i) *sources[i - 1] = from(i, types.begin()[i]);
}

void Decoder::take_list(std::vector<uint32_t> registers) {
  operation.more = static_cast<uint32_t>(kernel_.lists.size());
  kernel_.lists.push_back(std::move(registers));
}

uint32_t Decoder::predicate_from(size_t i) {
  Operand positive = operand(i);
  operation.negated = positive.negated;
  positive.negated = false;
  return from(positive, Type::kPred);
}

uint64_t Decoder::local_address(const Operand& operand) {
  const Symbol& symbol = symbol_of(operand);
  if (symbol.is_register || symbol.space != Space::kLocal)
    reject("operand " + operand.name + ": expected a .param or .local variable, found " +
           (symbol.is_register ? "a register" : "a variable of another space"));
  if (symbol.in_frame) operation.address = frame();
  return symbol.address;
}

Space Decoder::space() {
  const std::string_view name =
      one_of({"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param"});
  if (name.empty()) return Space::kGeneric;
  if (name == "global" || name == "const") return Space::kGlobal;
  if (name == "local") return Space::kLocal;
  return name == "param" ? Space::kParam : Space::kShared;
}

void Decoder::address(size_t i, Space space) {
  const Operand& operand_of_address = operand(i);
  if (operand_of_address.kind != Operand::kAddress) reject("expected an address");
  operation.space = space;
  operation.offset = operand_of_address.offset;
  operation.variable = kNone;
  if (operand_of_address.name.empty()) return;
  Operand base = operand_of_address;
  base.kind = Operand::kName;
  const Symbol& symbol = symbol_of(base);
  if (symbol.is_register) {
    operation.address_size = static_cast<uint8_t>(register_size(symbol.type));
    if (operation.address_size < 4)
      reject("operand " + operand_of_address.name +
             ": expected a register of 32 or 64 bits for an address");
    operation.address = symbol.number;
    // The address register contains the generic address of a parameter: parameters of the kernel
    // are in parameter memory, parameters of other functions in local memory.
    if (space == Space::kParam) operation.space = Space::kGeneric;
    return;
  }
  operation.space = symbol.space;
  operation.offset += static_cast<int64_t>(symbol.address);
  operation.variable = symbol.variable;
  if (symbol.in_frame) {
    operation.address = frame();
    operation.address_size = 8;
  }
  if (is_dynamic(symbol.variable)) {
    operation.address = registers_.constant(0, 4, &kernel_, symbol.variable);
    operation.address_size = 4;
  }
}

uint32_t Decoder::address_value(size_t i, Space space) {
  const Operation saved = operation;
  operation = {};
  address(i, space);
  if (space == Space::kGeneric) {
    switch (operation.space) {
      case Space::kShared: operation.offset += static_cast<int64_t>(kSharedWindow); break;
      case Space::kLocal: operation.offset += static_cast<int64_t>(kLocalWindow); break;
      case Space::kParam: operation.offset += static_cast<int64_t>(kParamWindow); break;
      default: break;
    }
  }
  operation.run = compute_address;
  operation.src0 = operation.address;
  operation.dst = registers_.add(Type::kU64);
  const uint32_t number = operation.dst;
  emit();
  operation = saved;
  return number;
}

}  // namespace kernkit::simulator::ptx
