// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Integer Arithmetic Instructions".
#include "ptx/simd/integer.h"
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace integer_steps;  // NOLINT(build/namespaces): its own steps

template <class Op>
struct WideBinary {
  template <class X>
  static constexpr Run run = binary<Op, Wide<X>, X>;
};
template <class Op>
struct WideTernary {
  template <class X>
  static constexpr Run run = ternary<Op, Wide<X>, X, X, Wide<X>>;
};

Type wide(Type type) {
  switch (type) {
    case Type::kU16: return Type::kU32;
    case Type::kS16: return Type::kS32;
    case Type::kU32: return Type::kU64;
    case Type::kS32: return Type::kS64;
    default: return Type::kNone;
  }
}

bool is_integer(Type type) { return of_unsigned<Unary<Neg>>(type) != nullptr; }

void take(Decoder& d, Type type, size_t count) {
  d.need_operands(count);
  d.take(type);
}
template <class Form>
Run integers(Decoder& d, Type type, size_t count) {
  take(d, type, count);
  return of_integer<Form>(type);
}
template <class Form>
Run wrapping(Decoder& d, Type type, size_t count) {
  take(d, type, count);
  return of_unsigned<Form>(type);
}

template <class Op, class Saturating>
Run add_or_sub(Decoder& d, Type type) {
  if (type == Type::kS32 && d.has("sat")) {
    d.take(type);
    return binary<Saturating, int32_t, int32_t>;
  }
  return wrapping<Binary<Op>>(d, type, 3);
}

bool is_integer_pair(Type type) { return type == Type::kU16x2 || type == Type::kS16x2; }

// Returns the function that executes min or max.
template <class Op>
Run choose(Decoder& d, Type type) {
  const bool relu = d.has("relu");
  const Run loop = integers<Binary<Op>>(d, type, 3);
  switch (type) {
    case Type::kU16x2: return Binary<Op>::template packed<uint16_t>;
    case Type::kS16x2:
      return relu ? Binary<Relu<Op>>::template packed<int16_t>
                  : Binary<Op>::template packed<int16_t>;
    default: return relu ? Binary<Relu<Op>>::template run<int32_t> : loop;
  }
}

}  // namespace

Run add(Decoder& d) {
  if (d.has("cc")) return carry(d);
  const Type type = d.type();
  if (is_integer_pair(type)) {
    take(d, type, 3);
    return Binary<Add>::packed<uint16_t>;
  }
  return is_integer(type) ? add_or_sub<Add, AddSat>(d, type) : real_add(d, type);
}
Run sub(Decoder& d) {
  if (d.has("cc")) return carry(d);
  const Type type = d.type();
  return is_integer(type) ? add_or_sub<Sub, SubSat>(d, type) : real_sub(d, type);
}

Run mul(Decoder& d) {
  const Type type = d.type();
  if (!is_integer(type)) return real_mul(d, type);
  if (d.has("lo")) return wrapping<Binary<MulLo>>(d, type, 3);
  if (d.has("hi")) return integers<Binary<MulHi>>(d, type, 3);
  if (!d.has("wide") || wide(type) == Type::kNone) return nullptr;
  d.take({wide(type), type, type});
  if (size_of(type) == 2) {
    return type == Type::kU16 ? binary<MulWide, uint32_t, uint16_t>
                              : binary<MulWide, int32_t, int16_t>;
  }
  return type == Type::kU32 ? binary<MulWide, uint64_t, uint32_t>
                            : binary<MulWide, int64_t, int32_t>;
}

Run mad(Decoder& d) {
  if (d.has("cc")) return carry(d);
  const Type type = d.type();
  if (!is_integer(type)) return nullptr;
  if (d.has("lo")) return wrapping<Ternary<Mad<MulLo>>>(d, type, 4);
  if (d.has("hi")) {
    const Run loop = integers<Ternary<Mad<MulHi>>>(d, type, 4);
    return type == Type::kS32 && d.has("sat") ? ternary<MadHiSat, int32_t, int32_t> : loop;
  }
  if (!d.has("wide") || wide(type) == Type::kNone) return nullptr;
  d.take({wide(type), type, type, wide(type)});
  switch (type) {
    case Type::kU16: return WideTernary<Mad<MulWide>>::run<uint16_t>;
    case Type::kS16: return WideTernary<Mad<MulWide>>::run<int16_t>;
    case Type::kU32: return WideTernary<Mad<MulWide>>::run<uint32_t>;
    default: return WideTernary<Mad<MulWide>>::run<int32_t>;
  }
}

Run div(Decoder& d) {
  const Type type = d.type();
  return is_integer(type) ? integers<Binary<Div>>(d, type, 3) : real_div(d, type);
}
Run rem(Decoder& d) { return integers<Binary<Rem>>(d, d.type(), 3); }
Run min(Decoder& d) {
  const Type type = d.type();
  return is_integer(type) || is_integer_pair(type) ? choose<Min>(d, type) : real_min(d, type);
}
Run max(Decoder& d) {
  const Type type = d.type();
  return is_integer(type) || is_integer_pair(type) ? choose<Max>(d, type) : real_max(d, type);
}
Run abs(Decoder& d) {
  const Type type = d.type();
  return is_signed(type) ? integers<Unary<Abs>>(d, type, 2) : real_abs(d, type);
}
Run neg(Decoder& d) {
  const Type type = d.type();
  return is_signed(type) ? wrapping<Unary<Neg>>(d, type, 2) : real_neg(d, type);
}

}  // namespace kernkit::simulator::ptx
