// SPDX-License-Identifier: Apache-2.0
// The table of definedness rules, by instruction.
#include <initializer_list>

#include "ptx/isa/comparison.h"
#include "ptx/simd/fragment_layout.h"
#include "tools/definedness.h"

namespace kernkit::simulator::ptx {
namespace {

bool is_integer_or_bits(Type type) {
  switch (type) {
    case Type::kNone:
    case Type::kPred:
    case Type::kF16:
    case Type::kBF16:
    case Type::kF32:
    case Type::kF64:
    case Type::kF32x2:
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kE4M3x2:
    case Type::kE5M2x2: return false;
    default: return true;
  }
}

// Returns the relation that a setp or set operation tests.
Order order_of(const Operation& operation) {
  switch (operation.mode & kComparison) {
    case kEq:
    case kNe: return Order::kEqual;
    case kLt: return Order::kLess;
    case kLe: return Order::kLessEqual;
    case kGt: return Order::kGreater;
    case kGe: return Order::kGreaterEqual;
    default: return Order::kNone;
  }
}

void add(std::vector<uint32_t>* to, std::initializer_list<uint32_t> registers) {
  for (const uint32_t source : registers) {
    if (source != kNone) to->push_back(source);
  }
}

BitPlan plan_of(const Kernel& kernel, const Operation& operation) {
  const Origin& origin = kernel.origins[operation.number];
  BitPlan plan;
  if (origin.instruction == nullptr) {
    plan.rule = Definedness::kNone;
    return plan;
  }
  const Instruction& row = *origin.instruction;
  plan.rule = row.definedness;
  plan.data = row.moved;
  plan.is_signed = is_signed(origin.type);
  if (plan.rule == Definedness::kCompare && is_integer_or_bits(origin.type)) {
    plan.order = order_of(operation);
  }
  if (row.access != AccessKind::kNone && operation.bytes == 0) {
    plan.rule = Definedness::kNone;  // the result is an address in the frame, which is defined
    add(&plan.results, {operation.dst});
    return plan;
  }
  const auto list = [&](std::vector<uint32_t>* to) {
    for (const uint32_t source : operation.list) add(to, {source});
  };
  add(&plan.selectors, {operation.address, operation.members});
  plan.stores = row.access == AccessKind::kStore;
  switch (plan.rule) {
    case Definedness::kFragment:
      add(&plan.selectors, {operation.src0});
      list(plan.stores ? &plan.sources : &plan.results);
      return plan;
    case Definedness::kMatrix: plan.transposes = operation.mode == kIsTransposed; [[fallthrough]];
    case Definedness::kLoad:
    case Definedness::kStore: list(plan.stores ? &plan.sources : &plan.results); return plan;
    case Definedness::kCopy: add(&plan.selectors, {operation.src0, operation.src1}); return plan;
    case Definedness::kExchange:
      plan.exchanges = true;
      plan.rule = Definedness::kAtomic;
      [[fallthrough]];
    case Definedness::kAtomic:
      add(&plan.sources, {operation.src1, operation.src2});
      add(&plan.results, {operation.dst, operation.dst_predicate});
      if (operation.bytes > 8) {
        add(&plan.upper_sources, {operation.list[kUpperSource1], operation.list[kUpperSource2]});
        add(&plan.upper_results, {operation.list[kUpperResult]});
      }
      return plan;
    case Definedness::kSums: {
      const std::vector<uint32_t>& all = kernel.lists[operation.more];
      const uint32_t count = WarpgroupProduct::unpack(operation.offset).registers;
      for (uint32_t i = 0; i < count; ++i) add(&plan.results, {all[i]});
      add(&plan.selectors, {operation.src0, operation.src1});
      return plan;
    }
    case Definedness::kArrive:
    case Definedness::kCommit:
    case Definedness::kWait:
    case Definedness::kWaitAll:
    case Definedness::kReturn: return plan;
    default: break;
  }
  add(&plan.results, {operation.dst, operation.dst_predicate});
  add(&plan.sources, {operation.src0, operation.src1, operation.src2, operation.src3});
  if (operation.more != kNone) {
    const std::vector<uint32_t>& all = kernel.lists[operation.more];
    const uint32_t of_d = Product::unpack(operation.offset).registers_of_d();
    for (size_t i = 0; i < all.size(); ++i) add(i < of_d ? &plan.results : &plan.sources, {all[i]});
  } else if (operation.count != 0) {  // mov between a vector and one wider register
    list(operation.dst != kNone ? &plan.sources : &plan.results);
  }
  if (plan.sources.empty()) plan.rule = Definedness::kNone;
  return plan;
}

}  // namespace

std::vector<BitPlan> plans_of(const Kernel& kernel) {
  std::vector<BitPlan> plans;
  plans.reserve(kernel.code.size());
  for (const Operation& operation : kernel.code) plans.push_back(plan_of(kernel, operation));
  return plans;
}

}  // namespace kernkit::simulator::ptx
