// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Comparison and Selection Instructions": setp and set.
#include "ptx/lanes/steps/compare.h"
#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

using namespace compare_steps;  // NOLINT(build/namespaces): its own steps

// setp.f16x2: a predicate for each half.
template <class X>
void set_packed(Warp& warp, const Operation& operation) {
  const uint32_t low = combined(warp, operation, compared_halves<X, 2, 0>(warp, operation));
  const uint32_t high = combined(warp, operation, compared_halves<X, 2, 1>(warp, operation));
  if (operation.to != kNone) warp.set_predicate(operation.to, low);
  if (operation.to_predicate != kNone) warp.set_predicate(operation.to_predicate, high);
}
// set: all bits, or 1.0 (operation.offset), where it holds.
void put_in_register(Warp& warp, const Operation& operation, uint32_t compared) {
  const uint32_t bits = combined(warp, operation, compared);
  auto* d = warp.results<uint32_t>(operation.to);
  const auto yes = static_cast<uint32_t>(operation.offset);
  each_lane([&](int l) { d[l] = (bits & kLane[l]) != 0 ? yes : 0; });
  warp.keep<uint32_t>(operation.to);
}
template <class X, bool kFlushes>
void set_register(Warp& warp, const Operation& operation) {
  put_in_register(warp, operation, compared<X, kFlushes>(warp, operation));
}
template <class H>
void set_predicates_of_halves(Warp& warp, const Operation& operation) {
  set_both_predicates(warp, operation, compared_halves<H, 1, 0>(warp, operation));
}
template <class H>
void set_register_of_halves(Warp& warp, const Operation& operation) {
  put_in_register(warp, operation, compared_halves<H, 1, 0>(warp, operation));
}

struct Predicates {
  template <class X, bool kFlushes>
  static constexpr Run of = set_predicates<X, kFlushes>;
  template <class H>
  static constexpr Run of_halves = set_predicates_of_halves<H>;
};
struct Register {
  template <class X, bool kFlushes>
  static constexpr Run of = set_register<X, kFlushes>;
  template <class H>
  static constexpr Run of_halves = set_register_of_halves<H>;
};

template <class Form>
Run of_type(Type type, bool flushes) {
  if (flushes) return type == Type::kF32 ? Form::template of<float, true> : nullptr;
  switch (type) {
    case Type::kB16:
    case Type::kU16: return Form::template of<uint16_t, false>;
    case Type::kS16: return Form::template of<int16_t, false>;
    case Type::kB32:
    case Type::kU32: return Form::template of<uint32_t, false>;
    case Type::kS32: return Form::template of<int32_t, false>;
    case Type::kB64:
    case Type::kU64: return Form::template of<uint64_t, false>;
    case Type::kS64: return Form::template of<int64_t, false>;
    case Type::kF16: return Form::template of_halves<Half>;
    case Type::kBF16: return Form::template of_halves<BHalf>;
    case Type::kF32: return Form::template of<float, false>;
    case Type::kF64: return Form::template of<double, false>;
    default: return nullptr;
  }
}

void read_comparison(Decoder& d, size_t with) {
  static constexpr struct {
    const char* name;
    int how;
  } kKnown[] = {{"eq", kEq},
                {"ne", kNe},
                {"lt", kLt},
                {"le", kLe},
                {"gt", kGt},
                {"ge", kGe},
                {"lo", kLt},
                {"ls", kLe},
                {"hi", kGt},
                {"hs", kGe},
                {"num", kNum},
                {"nan", kNan},
                {"equ", kEq | kUnordered},
                {"neu", kNe | kUnordered},
                {"ltu", kLt | kUnordered},
                {"leu", kLe | kUnordered},
                {"gtu", kGt | kUnordered},
                {"geu", kGe | kUnordered}};
  bool found = false;
  for (const auto& [name, how] : kKnown) {
    if (found || !d.has(name)) continue;
    d.operation.mode = static_cast<uint8_t>(how);
    found = true;
  }
  if (!found) d.refuse("it has no comparison that is known");
  const std::string_view combined = d.one_of({"and", "or", "xor"});
  d.need_operands(combined.empty() ? with : with + 1);
  if (combined.empty()) return;
  d.operation.mode |= (combined == "and" ? 1 : combined == "or" ? 2 : 3) << kCombined;
  d.operation.c = d.predicate_from(with);
}

}  // namespace

// setp p|q, a, b, c
Run setp(Decoder& d) {
  read_comparison(d, 3);
  const Type type = d.type();
  const Operand& to = d.operand(0);
  if (to.kind == Operand::kName) d.operation.to = d.to(to, Type::kPred);
  if (!to.parts.empty() && to.parts[0].kind == Operand::kName) {
    d.operation.to_predicate = d.to(to.parts[0], Type::kPred);
  }
  d.operation.a = d.from(1, type);
  d.operation.b = d.from(2, type);
  if (type == Type::kF16x2) return set_packed<Half>;
  if (type == Type::kBF16x2) return set_packed<BHalf>;
  return of_type<Predicates>(type, d.has("ftz"));
}

Run set(Decoder& d) {
  read_comparison(d, 3);
  const Type result = d.type(), type = d.type();
  if (size_of(result) != 4 || size_of(type) == 0) return nullptr;
  d.take({result, type, type});
  d.operation.offset = result == Type::kF32 ? 0x3f800000 : UINT32_MAX;
  return of_type<Register>(type, d.has("ftz"));
}

}  // namespace kernkit::cuda_on_cpu::ptx
