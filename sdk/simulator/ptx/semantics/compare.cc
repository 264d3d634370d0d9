// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Comparison and Selection Instructions": setp and set.
#include "ptx/simd/compare.h"
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace compare_steps;  // NOLINT(build/namespaces): its own steps

// Executes setp.f16x2, which sets one predicate for each half.
template <class X>
void set_packed(Warp& warp, const Operation& operation) {
  const uint32_t low = combined(warp, operation, compared_halves<X, 2, 0>(warp, operation));
  const uint32_t high = combined(warp, operation, compared_halves<X, 2, 1>(warp, operation));
  if (operation.dst != kNone) warp.set_predicate(operation.dst, low);
  if (operation.dst_predicate != kNone) warp.set_predicate(operation.dst_predicate, high);
}
// Stores the result of set: Operation::offset (all ones or 1.0) where the comparison holds, else 0.
// R is the type of the result register.
template <class R>
void put_in_register(Warp& warp, const Operation& operation, uint32_t compared) {
  const uint32_t bits = combined(warp, operation, compared);
  R* d = warp.results<R>(operation.dst);
  const auto yes = static_cast<R>(operation.offset);
  each_lane([&](int l) { d[l] = (bits & kLane[l]) != 0 ? yes : R{0}; });
  warp.keep<R>(operation.dst);
}
template <class R, class X, bool kFlushes>
void set_register(Warp& warp, const Operation& operation) {
  put_in_register<R>(warp, operation, compared<X, kFlushes>(warp, operation));
}
// Executes set for pairs of 16-bit numbers: each half of the result is the result of one
// comparison.
template <class H>
void set_register_of_pairs(Warp& warp, const Operation& operation) {
  const uint32_t low = combined(warp, operation, compared_halves<H, 2, 0>(warp, operation));
  const uint32_t high = combined(warp, operation, compared_halves<H, 2, 1>(warp, operation));
  auto* d = warp.results<uint32_t>(operation.dst);
  const auto yes = static_cast<uint32_t>(operation.offset);
  each_lane([&](int l) {
    d[l] = ((low & kLane[l]) != 0 ? yes : 0) | ((high & kLane[l]) != 0 ? yes << 16 : 0);
  });
  warp.keep<uint32_t>(operation.dst);
}
template <class H>
void set_predicates_of_halves(Warp& warp, const Operation& operation) {
  set_both_predicates(warp, operation, compared_halves<H, 1, 0>(warp, operation));
}
template <class R, class H>
void set_register_of_halves(Warp& warp, const Operation& operation) {
  put_in_register<R>(warp, operation, compared_halves<H, 1, 0>(warp, operation));
}

/// A .f16 operand of an instruction with .ftz: value() converts a subnormal number to a zero of the
/// same sign.
struct FlushedHalf {
  uint16_t bits;
  float value() const {
    return Half{static_cast<uint16_t>((bits & 0x7c00u) == 0 ? bits & 0x8000u : bits)}.value();
  }
};

constexpr int64_t kHalfOne = 0x3c00, kBHalfOne = 0x3f80;  // 1.0

struct Predicates {
  template <class X, bool kFlushes>
  static constexpr Run run = set_predicates<X, kFlushes>;
  template <class H>
  static constexpr Run of_halves = set_predicates_of_halves<H>;
};
template <class R>
struct Register {
  template <class X, bool kFlushes>
  static constexpr Run run = set_register<R, X, kFlushes>;
  template <class H>
  static constexpr Run of_halves = set_register_of_halves<R, H>;
};

template <class Form>
Run of_type(Type type, bool flushes) {
  if (flushes && type == Type::kF16) return Form::template of_halves<FlushedHalf>;
  if (flushes) return type == Type::kF32 ? Form::template run<float, true> : nullptr;
  switch (type) {
    case Type::kB16:
    case Type::kU16: return Form::template run<uint16_t, false>;
    case Type::kS16: return Form::template run<int16_t, false>;
    case Type::kB32:
    case Type::kU32: return Form::template run<uint32_t, false>;
    case Type::kS32: return Form::template run<int32_t, false>;
    case Type::kB64:
    case Type::kU64: return Form::template run<uint64_t, false>;
    case Type::kS64: return Form::template run<int64_t, false>;
    case Type::kF16: return Form::template of_halves<Half>;
    case Type::kBF16: return Form::template of_halves<BHalf>;
    case Type::kF32: return Form::template run<float, false>;
    case Type::kF64: return Form::template run<double, false>;
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
  bool has_comparison = false;
  for (const auto& [name, how] : kKnown) {
    if (has_comparison || !d.has(name)) continue;
    d.operation.mode = static_cast<uint8_t>(how);
    has_comparison = true;
  }
  if (!has_comparison) d.reject("expected a comparison, such as .lt");
  const std::string_view combined = d.one_of({"and", "or", "xor"});
  d.need_operands(combined.empty() ? with : with + 1);
  if (combined.empty()) return;
  d.operation.mode |= (combined == "and" ? 1 : combined == "or" ? 2 : 3) << kCombined;
  d.operation.src2 = d.predicate_from(with);
}

}  // namespace

// Decodes setp p|q, a, b, c.
Run setp(Decoder& d) {
  read_comparison(d, 3);
  const Type type = d.type();
  const Operand& to = d.operand(0);
  if (to.kind == Operand::kName) d.operation.dst = d.to(to, Type::kPred);
  if (!to.parts.empty() && to.parts[0].kind == Operand::kName) {
    d.operation.dst_predicate = d.to(to.parts[0], Type::kPred);
  }
  d.operation.src0 = d.from(1, type);
  d.operation.src1 = d.from(2, type);
  const bool flushes = d.has("ftz");
  if (type == Type::kF16x2) return flushes ? set_packed<FlushedHalf> : set_packed<Half>;
  if (type == Type::kBF16x2) return flushes ? nullptr : set_packed<BHalf>;
  return of_type<Predicates>(type, flushes);
}

Run set(Decoder& d) {
  read_comparison(d, 3);
  const Type result = d.type(), type = d.type();
  d.take({result, type, type});
  const bool is_integer = result == Type::kU32 || result == Type::kS32;
  if (type == Type::kF16x2 || type == Type::kBF16x2) {
    if (result != type && !is_integer) return nullptr;
    d.operation.offset = is_integer ? UINT16_MAX : type == Type::kF16x2 ? kHalfOne : kBHalfOne;
    if (d.has("ftz")) {
      return type == Type::kF16x2 ? set_register_of_pairs<FlushedHalf> : nullptr;
    }
    return type == Type::kF16x2 ? set_register_of_pairs<Half> : set_register_of_pairs<BHalf>;
  }
  switch (result) {
    case Type::kF32: d.operation.offset = 0x3f800000; break;
    case Type::kU32:
    case Type::kS32: d.operation.offset = UINT32_MAX; break;
    case Type::kF16: d.operation.offset = kHalfOne; break;
    case Type::kBF16: d.operation.offset = kBHalfOne; break;
    case Type::kU16:
    case Type::kS16: d.operation.offset = UINT16_MAX; break;
    default: return nullptr;
  }
  const bool flushes = d.has("ftz");
  return size_of(result) == 2 ? of_type<Register<uint16_t>>(type, flushes)
                              : of_type<Register<uint32_t>>(type, flushes);
}

}  // namespace kernkit::simulator::ptx
