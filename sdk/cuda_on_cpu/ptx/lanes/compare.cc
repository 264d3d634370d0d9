// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Comparison and Selection Instructions": setp and set.
#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

enum Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

template <class X>
auto plain(X x) {
  return x;
}
inline float plain(Half x) { return x.value(); }
inline float plain(BHalf x) { return x.value(); }

template <Comparison kHow, class V>
bool holds(V a, V b) {
  switch (kHow) {
    case kEq: return a == b;
    case kNe: return a < b || a > b;  // false for a NaN
    case kLt: return a < b;
    case kLe: return a <= b;
    case kGt: return a > b;
    case kGe: return a >= b;
    case kNum: return a == a && b == b;
    case kNan: return a != a || b != b;
  }
  return false;
}

template <Comparison kHow, class X, bool kFlushes, int kStride, int kFirst>
uint32_t compare(const X* a, const X* b) {
  uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) {
    auto x = plain(a[kStride * l + kFirst]), y = plain(b[kStride * l + kFirst]);
    if constexpr (kFlushes) {
      x = flush(x);
      y = flush(y);
    }
    bits |= holds<kHow>(x, y) ? kLane[l] : 0;
  }
  return bits;
}

template <class X, bool kFlushes, int kStride = 1, int kFirst = 0>
uint32_t compare(Comparison how, const X* a, const X* b) {
  switch (how) {
    case kEq: return compare<kEq, X, kFlushes, kStride, kFirst>(a, b);
    case kNe: return compare<kNe, X, kFlushes, kStride, kFirst>(a, b);
    case kLt: return compare<kLt, X, kFlushes, kStride, kFirst>(a, b);
    case kLe: return compare<kLe, X, kFlushes, kStride, kFirst>(a, b);
    case kGt: return compare<kGt, X, kFlushes, kStride, kFirst>(a, b);
    case kGe: return compare<kGe, X, kFlushes, kStride, kFirst>(a, b);
    case kNum: return compare<kNum, X, kFlushes, kStride, kFirst>(a, b);
    case kNan: return compare<kNan, X, kFlushes, kStride, kFirst>(a, b);
  }
  return 0;
}

// An operation's mode: the comparison, whether it also holds for a NaN, and how the result is
// combined with a predicate: not, and, or, xor.
constexpr uint8_t kUnordered = 8;
constexpr int kCombined = 4;

template <class X, bool kFlushes, int kStride = 1, int kFirst = 0>
uint32_t compared(Warp& warp, const Operation& operation) {
  const auto how = static_cast<Comparison>(operation.mode & 7);
  const X *a = warp.lanes<X>(operation.a), *b = warp.lanes<X>(operation.b);
  uint32_t bits = compare<X, kFlushes, kStride, kFirst>(how, a, b);
  if ((operation.mode & kUnordered) != 0) bits |= compare<kNan, X, false, kStride, kFirst>(a, b);
  return bits;
}
uint32_t combined(Warp& warp, const Operation& operation, uint32_t bits) {
  const int how = operation.mode >> kCombined;
  if (how == 0) return bits;
  const uint32_t other = warp.predicate(operation.c);
  const uint32_t c = operation.negated ? ~other : other;
  return how == 1 ? bits & c : how == 2 ? bits | c : bits ^ c;
}

template <class X, bool kFlushes>
void set_predicates(Warp& warp, const Operation& operation) {
  const uint32_t bits = compared<X, kFlushes>(warp, operation);
  const uint32_t first = combined(warp, operation, bits);
  const uint32_t second = combined(warp, operation, ~bits);
  if (operation.to != kNone) warp.set_predicate(operation.to, first);
  if (operation.to_predicate != kNone) warp.set_predicate(operation.to_predicate, second);
}
// setp.f16x2: a predicate for each half.
template <class X>
void set_packed(Warp& warp, const Operation& operation) {
  const uint32_t low = combined(warp, operation, compared<X, false, 2, 0>(warp, operation));
  const uint32_t high = combined(warp, operation, compared<X, false, 2, 1>(warp, operation));
  if (operation.to != kNone) warp.set_predicate(operation.to, low);
  if (operation.to_predicate != kNone) warp.set_predicate(operation.to_predicate, high);
}
// set: all bits, or 1.0 (operation.offset), where it holds.
template <class X, bool kFlushes>
void set_register(Warp& warp, const Operation& operation) {
  const uint32_t bits = combined(warp, operation, compared<X, kFlushes>(warp, operation));
  auto* d = warp.results<uint32_t>(operation.to);
  const auto yes = static_cast<uint32_t>(operation.offset);
  each_lane([&](int l) { d[l] = (bits & kLane[l]) != 0 ? yes : 0; });
  warp.keep<uint32_t>(operation.to);
}

struct Predicates {
  template <class X, bool kFlushes>
  static constexpr Run of = set_predicates<X, kFlushes>;
};
struct Register {
  template <class X, bool kFlushes>
  static constexpr Run of = set_register<X, kFlushes>;
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
    case Type::kF16: return Form::template of<Half, false>;
    case Type::kBF16: return Form::template of<BHalf, false>;
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
