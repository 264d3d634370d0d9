// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Logic and Shift Instructions", and integer instructions on bits.
#include "ptx/simd/bits.h"
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace bit_steps;  // NOLINT(build/namespaces): its own steps

template <class Op>
struct Shift {
  template <class X>
  static constexpr Run run = binary<Op, X, X, uint32_t>;
};
template <class Op>
struct Field {
  template <class X>
  static constexpr Run run = ternary<Op, X, X, uint32_t, uint32_t>;
};
template <class Op>
struct Counting {
  template <class X>
  static constexpr Run run = unary<Op, uint32_t, X>;
};
struct Insertion {
  template <class X>
  static constexpr Run run = insert<X>;
};

// Executes and, or, xor and not on predicates.
void logic_of_predicates(Warp& warp, const Operation& operation) {
  const uint32_t a = warp.predicate(operation.src0);
  const uint32_t b = operation.src1 != kNone ? warp.predicate(operation.src1) : 0;
  const uint32_t results[] = {a & b, a | b, a ^ b, ~a};
  warp.set_predicate(operation.dst, results[operation.mode]);
}

Run count(Decoder& d, Type type) {
  d.take({Type::kU32, type});
  return nullptr;
}

template <bool kOr>
void lop3_and_predicate(Warp& warp, const Operation& operation) {
  const auto *a = warp.lanes<uint32_t>(operation.src0), *b = warp.lanes<uint32_t>(operation.src1),
             *c = warp.lanes<uint32_t>(operation.src2);
  alignas(64) uint32_t values[32];
  uint32_t any = 0;
  for (int l = 0; l < 32; ++l) {
    values[l] = lop3_of(a[l], b[l], c[l], operation.mode);
    any |= values[l] != 0 ? kLane[l] : 0;
  }
  const uint32_t bits = warp.predicate(operation.src3);
  const uint32_t source = operation.negated ? ~bits : bits;
  warp.set_predicate(operation.dst_predicate, kOr ? any | source : any & source);
  if (operation.dst == kNone) return;
  auto* d = warp.results<uint32_t>(operation.dst);
  each_lane([&](int l) { d[l] = values[l]; });
  warp.keep<uint32_t>(operation.dst);
}

}  // namespace

Run logic(Decoder& d) {
  const Type type = d.type();
  const std::string_view name = d.name();
  d.take(type);
  d.need_operands(name == "not" ? 2 : 3);
  d.operation.mode = name == "and" ? 0 : name == "or" ? 1 : name == "xor" ? 2 : 3;
  if (type == Type::kPred) return logic_of_predicates;
  if (name == "and") return of_bits<Binary<And>>(type);
  if (name == "or") return of_bits<Binary<Or>>(type);
  return name == "xor" ? of_bits<Binary<Xor>>(type) : of_bits<Unary<Not>>(type);
}
Run cnot(Decoder& d) {
  const Type type = d.type();
  d.take(type);
  return of_bits<Unary<Cnot>>(type);
}
Run shl(Decoder& d) {
  const Type type = d.type();
  d.take({type, type, Type::kU32});
  return of_bits<Shift<Shl>>(type);
}
Run shr(Decoder& d) {
  const Type type = d.type();
  d.take({type, type, Type::kU32});
  const Run of_signed = of_integer<Shift<Shr>>(type);
  return of_signed != nullptr ? of_signed : of_bits<Shift<Shr>>(type);
}
Run shf(Decoder& d) {
  const std::string_view direction = d.one_of({"l", "r"}), how = d.one_of({"wrap", "clamp"});
  d.take(d.type());
  if (how.empty()) return nullptr;
  const bool wraps = how == "wrap";
  if (direction == "l") {
    return wraps ? ternary<Shf<true, true>, uint32_t, uint32_t>
                 : ternary<Shf<true, false>, uint32_t, uint32_t>;
  }
  if (direction != "r") return nullptr;
  return wraps ? ternary<Shf<false, true>, uint32_t, uint32_t>
               : ternary<Shf<false, false>, uint32_t, uint32_t>;
}
Run bfe(Decoder& d) {
  const Type type = d.type();
  d.take({type, type, Type::kU32, Type::kU32});
  return size_of(type) >= 4 ? of_integer<Field<Bfe>>(type) : nullptr;
}
Run bfi(Decoder& d) {
  const Type type = d.type();
  d.take({type, type, type, Type::kU32, Type::kU32});
  return size_of(type) >= 4 ? of_bits<Insertion>(type) : nullptr;
}
Run bmsk(Decoder& d) {
  const std::string_view how = d.one_of({"clamp", "wrap"});
  d.take(d.type());
  if (how.empty()) return nullptr;
  return how == "wrap" ? binary<Bmsk<true>, uint32_t, uint32_t>
                       : binary<Bmsk<false>, uint32_t, uint32_t>;
}
Run prmt(Decoder& d) {
  const std::string_view mode = d.one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.need_operands(4);
  d.take(d.type());
  if (mode == "f4e") return ternary<PrmtMode<Bytes::kForward>, uint32_t, uint32_t>;
  if (mode == "b4e") return ternary<PrmtMode<Bytes::kBackward>, uint32_t, uint32_t>;
  if (mode == "rc8") return ternary<PrmtMode<Bytes::kReplicated>, uint32_t, uint32_t>;
  if (mode == "ecl") return ternary<PrmtMode<Bytes::kClampedLeft>, uint32_t, uint32_t>;
  if (mode == "ecr") return ternary<PrmtMode<Bytes::kClampedRight>, uint32_t, uint32_t>;
  if (mode == "rc16") return ternary<PrmtMode<Bytes::kHalf>, uint32_t, uint32_t>;
  return ternary<Prmt, uint32_t, uint32_t>;
}
// Decodes lop3.or.b32 d|p, a, b, c, table, {!}q: p is true if any bit of d is set, combined with q
// by .or or .and.
Run lop3(Decoder& d) {
  const std::string_view combined = d.one_of({"or", "and"});
  const Type type = d.type();
  if (!combined.empty()) {
    const Operand& to = d.operand(0);
    d.need_operands(6);
    if (to.parts.empty() || d.operand(4).kind != Operand::kInteger) return nullptr;
    if (to.kind == Operand::kName) d.operation.dst = d.to(to, type);
    d.operation.dst_predicate = d.to(to.parts[0], Type::kPred);
    d.operation.src0 = d.from(1, type);
    d.operation.src1 = d.from(2, type);
    d.operation.src2 = d.from(3, type);
    d.operation.src3 = d.predicate_from(5);
    d.operation.mode = static_cast<uint8_t>(d.operand(4).bits);
    return combined == "or" ? lop3_and_predicate<true> : lop3_and_predicate<false>;
  }
  d.take({type, type, type, type});
  if (type != Type::kB32 || d.operand(4).kind != Operand::kInteger) return nullptr;
  d.operation.mode = static_cast<uint8_t>(d.operand(4).bits);
  d.need_operands(5);
  return lop3_lanes;
}
Run popc(Decoder& d) {
  const Type type = d.type();
  count(d, type);
  return of_bits<Counting<Popc>>(type);
}
Run clz(Decoder& d) {
  const Type type = d.type();
  count(d, type);
  return of_bits<Counting<Clz>>(type);
}
Run bfind(Decoder& d) {
  const Type type = d.type();
  count(d, type);
  return d.has("shiftamt") ? of_integer<Counting<Bfind<true>>>(type)
                           : of_integer<Counting<Bfind<false>>>(type);
}
// [brev]
Run brev(Decoder& d) {
  const Type type = d.type();
  d.take(type);
  return of_bits<Unary<Brev>>(type);
}
// [/brev]

}  // namespace kernkit::simulator::ptx
