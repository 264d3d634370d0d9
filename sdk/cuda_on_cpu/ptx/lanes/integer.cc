// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Integer Arithmetic Instructions".
#include <type_traits>

#include "ptx/lanes/families.h"
#include "ptx/lanes/forms.h"

namespace kernkit::cuda_on_cpu::ptx {
namespace {

/// Arithmetic that wraps.
template <class X>
using Wrapping = std::conditional_t<sizeof(X) == 8, uint64_t, uint32_t>;
template <class X>
using Wide =
    std::conditional_t<sizeof(X) == 2, std::conditional_t<std::is_signed_v<X>, int32_t, uint32_t>,
                       std::conditional_t<std::is_signed_v<X>, int64_t, uint64_t>>;

struct Add {
  template <class X>
  static X of(X a, X b) {
    return static_cast<X>(static_cast<Wrapping<X>>(a) + static_cast<Wrapping<X>>(b));
  }
};
struct Sub {
  template <class X>
  static X of(X a, X b) {
    return static_cast<X>(static_cast<Wrapping<X>>(a) - static_cast<Wrapping<X>>(b));
  }
};
int32_t saturated(int64_t x) {
  return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
struct AddSat {
  static int32_t of(int32_t a, int32_t b) { return saturated(int64_t{a} + b); }
};
struct SubSat {
  static int32_t of(int32_t a, int32_t b) { return saturated(int64_t{a} - b); }
};
struct MulLo {
  template <class X>
  static X of(X a, X b) {
    return static_cast<X>(static_cast<Wrapping<X>>(a) * static_cast<Wrapping<X>>(b));
  }
};
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
struct MulHi {
  template <class X>
  static X of(X a, X b) {
    if constexpr (sizeof(X) == 8) {
      using Whole = std::conditional_t<std::is_signed_v<X>, Int128, UInt128>;
      return static_cast<X>(static_cast<Whole>(a) * static_cast<Whole>(b) >> 64);
    } else {
      return static_cast<X>(Wide<X>{a} * Wide<X>{b} >> 8 * sizeof(X));
    }
  }
};
struct MulWide {
  template <class X>
  static Wide<X> of(X a, X b) {
    return Wide<X>{a} * Wide<X>{b};
  }
};
template <class Mul>
struct Mad {
  template <class X, class C>
  static C of(X a, X b, C c) {
    return Add::of<C>(static_cast<C>(Mul::of(a, b)), c);
  }
};
// Of 0 the ISA leaves the quotient open: it is what the hardware gives, all bits set.
struct Div {
  template <class X>
  static X of(X a, X b) {
    if (b == 0) return static_cast<X>(-1);
    if (std::is_signed_v<X> && b == static_cast<X>(-1)) return Sub::of<X>(0, a);
    return static_cast<X>(a / b);
  }
};
struct Rem {
  template <class X>
  static X of(X a, X b) {
    if (b == 0) return a;
    if (std::is_signed_v<X> && b == static_cast<X>(-1)) return 0;
    return static_cast<X>(a % b);
  }
};
struct Min {
  template <class X>
  static X of(X a, X b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class X>
  static X of(X a, X b) {
    return a > b ? a : b;
  }
};
struct Neg {
  template <class X>
  static X of(X a) {
    return Sub::of<X>(0, a);
  }
};
struct Abs {
  template <class X>
  static X of(X a) {
    return a < 0 ? Sub::of<X>(0, a) : a;
  }
};

template <class Op>
struct WideBinary {
  template <class X>
  static constexpr Run of = binary<Op, Wide<X>, X>;
};
template <class Op>
struct WideTernary {
  template <class X>
  static constexpr Run of = ternary<Op, Wide<X>, X, X, Wide<X>>;
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

}  // namespace

Run add(Decoder& d) {
  if (d.has("cc")) return carry(d);
  const Type type = d.type();
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
  if (d.has("hi")) return integers<Ternary<Mad<MulHi>>>(d, type, 4);
  if (!d.has("wide") || wide(type) == Type::kNone) return nullptr;
  d.take({wide(type), type, type, wide(type)});
  switch (type) {
    case Type::kU16: return WideTernary<Mad<MulWide>>::of<uint16_t>;
    case Type::kS16: return WideTernary<Mad<MulWide>>::of<int16_t>;
    case Type::kU32: return WideTernary<Mad<MulWide>>::of<uint32_t>;
    default: return WideTernary<Mad<MulWide>>::of<int32_t>;
  }
}

Run div(Decoder& d) {
  const Type type = d.type();
  return is_integer(type) ? integers<Binary<Div>>(d, type, 3) : real_div(d, type);
}
Run rem(Decoder& d) { return integers<Binary<Rem>>(d, d.type(), 3); }
Run min(Decoder& d) {
  const Type type = d.type();
  return is_integer(type) ? integers<Binary<Min>>(d, type, 3) : real_min(d, type);
}
Run max(Decoder& d) {
  const Type type = d.type();
  return is_integer(type) ? integers<Binary<Max>>(d, type, 3) : real_max(d, type);
}
Run abs(Decoder& d) {
  const Type type = d.type();
  return is_signed(type) ? integers<Unary<Abs>>(d, type, 2) : real_abs(d, type);
}
Run neg(Decoder& d) {
  const Type type = d.type();
  return is_signed(type) ? wrapping<Unary<Neg>>(d, type, 2) : real_neg(d, type);
}

}  // namespace kernkit::cuda_on_cpu::ptx
