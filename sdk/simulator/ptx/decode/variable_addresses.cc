// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode/variable_addresses.h"

#include <algorithm>
#include <initializer_list>

namespace kernkit::simulator::ptx {
namespace {

// The base of a register summarises all values that operations write to the register: the index of
// a variable if every value is derived from the address of this variable; kUnknown before the first
// write; kOther if no value is derived from an address; kMixed otherwise, such as for one of
// several addresses, a difference of addresses, or some bits of an address.
constexpr uint32_t kUnknown = kNone, kOther = kNone - 1, kMixed = kNone - 2;

bool is_variable(uint32_t base) { return base < kMixed; }
bool has_address(uint32_t base) { return base <= kMixed; }
// Returns the base of a source register; kOther if the operation does not use this source.
uint32_t base_of(const std::vector<uint32_t>& bases, uint32_t at) {
  return at != kNone ? bases[at] : kOther;
}

// Returns the base of the sum of two sources, one of which can be an address.
uint32_t either(uint32_t a, uint32_t b) {
  if (has_address(a) && has_address(b)) return kMixed;
  if (has_address(a)) return a;
  if (has_address(b)) return b;
  return a == kUnknown || b == kUnknown ? kUnknown : kOther;
}
uint32_t joined(uint32_t a, uint32_t b) {
  if (a == kUnknown) return b;
  return b == kUnknown || a == b ? a : kMixed;
}

uint32_t result_of(AddressFlow flow, const Operation& operation,
                   const std::vector<uint32_t>& bases) {
  const auto base = [&](uint32_t at) { return base_of(bases, at); };
  const auto mixed_from = [&](std::initializer_list<uint32_t> sources, uint32_t otherwise) {
    const bool mixes = std::any_of(sources.begin(), sources.end(),
                                   [&](uint32_t at) { return has_address(base(at)); });
    return mixes ? kMixed : otherwise;
  };
  switch (flow) {
    case AddressFlow::kNone:
      // A loaded value is not derived from the operation's sources.
      if (operation.address != kNone) return kOther;
      return mixed_from({operation.src0, operation.src1, operation.src2, operation.src3}, kOther);
    case AddressFlow::kFirst: return base(operation.src0);
    case AddressFlow::kDifference: return mixed_from({operation.src1}, base(operation.src0));
    case AddressFlow::kThird:
      return mixed_from({operation.src0, operation.src1}, base(operation.src2));
    case AddressFlow::kEither: return either(base(operation.src0), base(operation.src1));
    case AddressFlow::kSelected: return joined(base(operation.src0), base(operation.src1));
  }
  return kOther;
}

AddressFlow flow_of(const Kernel& kernel, const Operation& operation) {
  const Instruction* row = kernel.origins[operation.number].instruction;
  return row != nullptr ? row->address_flow : AddressFlow::kNone;
}

}  // namespace

void find_variables(size_t registers, Kernel* kernel) {
  if (kernel->variables.empty()) return;
  std::vector<uint32_t> bases(registers, kUnknown);
  for (const Constant& constant : kernel->constants) {
    bases[constant.at] = constant.variable != kNone ? constant.variable : kOther;
  }
  for (const SpecialRegister& special : kernel->specials) bases[special.at] = kOther;
  const auto join = [&](uint32_t at, uint32_t base) {
    if (at == kNone) return false;
    const uint32_t before = bases[at];
    bases[at] = joined(before, base);
    return bases[at] != before;
  };
  for (const Operation& operation : kernel->code) {
    for (const uint32_t at : operation.list) join(at, kOther);  // registers of a load or store
    if (operation.more == kNone) continue;
    for (const uint32_t at : kernel->lists[operation.more]) join(at, kOther);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Operation& operation : kernel->code) {
      changed |= join(operation.dst, result_of(flow_of(*kernel, operation), operation, bases));
    }
  }
  for (Operation& operation : kernel->code) {
    uint32_t& variable = operation.variable;
    if (variable == kNone && operation.address_size != 0 && operation.address != kNone &&
        is_variable(bases[operation.address])) {
      variable = bases[operation.address];
    }
    if (variable == kNone) continue;
    const KernelVariable& target = kernel->variables[variable];
    if (target.kind == KernelVariable::kGlobal) continue;
    operation.shared_begin = static_cast<uint32_t>(target.begin);
    if (target.kind == KernelVariable::kShared) {
      operation.shared_end = operation.shared_begin + target.bytes;
    }
  }
}

}  // namespace kernkit::simulator::ptx
