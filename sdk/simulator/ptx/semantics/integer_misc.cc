// SPDX-License-Identifier: Apache-2.0
// Further integer instructions: mul24, mad24, sad, dp2a, dp4a, fns, slct, szext and cvt.pack; and
// testp.
#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

// Returns the lower 24 bits of x, sign-extended for a signed type.
template <class X>
int64_t of_24_bits(X x) {
  const auto bits = static_cast<uint32_t>(x) << 8;
  return std::is_signed_v<X> ? static_cast<int32_t>(bits) >> 8 : int64_t{bits >> 8};
}
template <bool kHigh>
struct Mul24 {
  template <class X>
  static X apply(X a, X b) {
    return static_cast<X>(of_24_bits(a) * of_24_bits(b) >> (kHigh ? 16 : 0));
  }
};
template <bool kHigh>
struct Mad24 {
  template <class X>
  static X apply(X a, X b, X c) {
    return static_cast<X>(static_cast<uint32_t>(Mul24<kHigh>::apply(a, b)) +
                          static_cast<uint32_t>(c));
  }
};
struct Mad24Sat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    const int64_t sum = int64_t{Mul24<true>::apply(a, b)} + c;
    return static_cast<int32_t>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  }
};
struct Sad {
  template <class X>
  static X apply(X a, X b, X c) {
    using U = std::make_unsigned_t<X>;
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<X>(static_cast<U>(c) + static_cast<U>(a < b ? y - x : x - y));
  }
};
// dp4a and dp2a. A is the type of the elements of a, B the type of the elements of b, which are
// bytes. kFirst is the index of the first byte of b.
template <class A, class B, int kFirst = 0>
struct Dot {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (int k = 0; k < static_cast<int>(4 / sizeof(A)); ++k) {
      const auto x = static_cast<A>(a >> 8 * static_cast<int>(sizeof(A)) * k);
      const auto y = static_cast<B>(b >> 8 * (k + kFirst));
      c += static_cast<uint32_t>(int32_t{x} * int32_t{y});
    }
    return c;
  }
};
// fns: the position of the set bit number |offset|, counted from bit `base` upwards, or downwards
// for a negative offset.
struct Fns {
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
    if (base > 31) return UINT32_MAX;
    if (offset == 0) return (mask >> base & 1) != 0 ? base : UINT32_MAX;
    int64_t remaining = std::abs(int64_t{offset});
    const int step = offset > 0 ? 1 : -1;
    for (int at = static_cast<int>(base); at >= 0 && at <= 31; at += step) {
      if ((mask >> at & 1) != 0 && --remaining == 0) return static_cast<uint32_t>(at);
    }
    return UINT32_MAX;
  }
};
// szext: the lower b bits of a, sign-extended for a signed type. With .wrap, b is taken modulo 32.
template <bool kClamps, bool kSigned>
struct Szext {
  static uint32_t apply(uint32_t a, uint32_t b) {
    if (kClamps && b > 31) return a;
    const uint32_t bits = b & 31, field = (uint32_t{1} << bits) - 1;
    const bool negative = kSigned && bits != 0 && (a >> (bits - 1) & 1) != 0;
    return negative ? a | ~field : a & field;
  }
};
// cvt.pack: returns a and b, each clamped to `size` bits, in the lower bits of the result. b is in
// the lowest bits.
inline uint32_t clamped_pair(int32_t a, int32_t b, uint32_t size, bool is_signed_type) {
  const int32_t most = (1 << (is_signed_type ? size - 1 : size)) - 1,
                least = is_signed_type ? -most - 1 : 0;
  const auto clamped_half = [&](int32_t x) {
    const int32_t clamped = x < least ? least : x > most ? most : x;
    return static_cast<uint32_t>(clamped) & ((uint32_t{1} << size) - 1);
  };
  return clamped_half(a) << size | clamped_half(b);
}
template <uint32_t kSize, bool kSigned>
struct CvtPack {
  static uint32_t apply(int32_t a, int32_t b) { return clamped_pair(a, b, kSize, kSigned); }
  // With operand c, the upper bits of the result are the lower bits of c.
  static uint32_t apply(int32_t a, int32_t b, uint32_t c) { return apply(a, b) | c << 2 * kSize; }
};
template <uint32_t kSize>
Run pack_form(bool is_signed_type) {
  return is_signed_type ? ternary<CvtPack<kSize, true>, uint32_t, int32_t, int32_t, uint32_t>
                        : ternary<CvtPack<kSize, false>, uint32_t, int32_t, int32_t, uint32_t>;
}
struct Slct {
  template <class X, class C>
  static X apply(X a, X b, C c) {
    return c >= 0 ? a : b;  // a NaN selects b
  }
};
struct SlctFlushed {
  template <class X>
  static X apply(X a, X b, float c) {
    return Slct::apply(a, b, flush(c));
  }
};
template <class Op, class C>
struct Choice {
  template <class X>
  static constexpr Run run = ternary<Op, X, X, X, C>;
};

template <template <bool> class Op, template <class> class Form>
Run form_of_24_bits(Decoder& d, size_t count) {
  const std::string_view part = d.one_of({"lo", "hi"});
  const Type type = d.type();
  d.need_operands(count);
  d.take(type);
  if (part.empty()) return nullptr;
  if (type == Type::kU32) {
    return part == "hi" ? Form<Op<true>>::template run<uint32_t>
                        : Form<Op<false>>::template run<uint32_t>;
  }
  if (type != Type::kS32) return nullptr;
  return part == "hi" ? Form<Op<true>>::template run<int32_t>
                      : Form<Op<false>>::template run<int32_t>;
}

template <class A, class B>
Run dot_of(std::string_view name, std::string_view half) {
  using Half = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  if (name == "dp4a") return ternary<Dot<A, B>, uint32_t, uint32_t>;
  return half == "hi" ? ternary<Dot<Half, B, 2>, uint32_t, uint32_t>
                      : ternary<Dot<Half, B>, uint32_t, uint32_t>;
}

template <class X>
void test_lanes(Warp& warp, const Operation& operation) {
  const X* a = warp.lanes<X>(operation.src0);
  uint32_t bits = 0;
  for (int l = 0; l < 32; ++l) {
    const int kind = std::fpclassify(a[l]);
    bits |= (operation.mode >> kind & 1) != 0 ? kLane[l] : 0;
  }
  warp.set_predicate(operation.dst, bits);
}

}  // namespace

Run mul24(Decoder& d) { return form_of_24_bits<Mul24, Binary>(d, 3); }
Run mad24(Decoder& d) {
  if (!d.has("sat")) return form_of_24_bits<Mad24, Ternary>(d, 4);
  const bool is_supported = d.has("hi") && d.type() == Type::kS32;
  d.need_operands(4);
  d.take(Type::kS32);
  return is_supported ? Ternary<Mad24Sat>::run<int32_t> : nullptr;
}
Run sad(Decoder& d) {
  const Type type = d.type();
  d.need_operands(4);
  d.take(type);
  return of_integer<Ternary<Sad>>(type);
}

// Decodes dp4a.s32.u32 d, a, b, c and dp2a.lo.s32.u32 d, a, b, c.
Run dot(Decoder& d) {
  const std::string_view half = d.one_of({"lo", "hi"});
  const Type a = d.type(), b = d.type();
  d.need_operands(4);
  d.take(Type::kU32);
  const auto is_supported = [](Type type) { return type == Type::kU32 || type == Type::kS32; };
  if (!is_supported(a) || !is_supported(b) || half.empty() != (d.name() == "dp4a")) return nullptr;
  if (is_signed(a)) {
    return is_signed(b) ? dot_of<int8_t, int8_t>(d.name(), half)
                        : dot_of<int8_t, uint8_t>(d.name(), half);
  }
  return is_signed(b) ? dot_of<uint8_t, int8_t>(d.name(), half)
                      : dot_of<uint8_t, uint8_t>(d.name(), half);
}

Run fns(Decoder& d) {
  if (d.type() != Type::kB32) return nullptr;
  d.need_operands(4);
  d.take({Type::kB32, Type::kB32, Type::kU32, Type::kS32});
  return ternary<Fns, uint32_t, uint32_t, uint32_t, int32_t>;
}

// Decodes slct.u32.f32 d, a, b, c, which selects a if c >= 0, else b.
Run slct(Decoder& d) {
  const Type type = d.type(), of_sign = d.type();
  d.need_operands(4);
  d.take({type, type, type, of_sign});
  const Type bits = size_of(type) == 2   ? Type::kB16
                    : size_of(type) == 4 ? Type::kB32
                    : size_of(type) == 8 ? Type::kB64
                                         : Type::kNone;
  if (of_sign == Type::kS32) return of_bits<Choice<Slct, int32_t>>(bits);
  if (of_sign != Type::kF32) return nullptr;
  return d.has("ftz") ? of_bits<Choice<SlctFlushed, float>>(bits)
                      : of_bits<Choice<Slct, float>>(bits);
}

Run testp(Decoder& d) {
  const std::string_view name =
      d.one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type type = d.type();
  d.need_operands(2);
  d.take({Type::kPred, type});
  constexpr int kNormal = 1 << FP_NORMAL | 1 << FP_ZERO, kSubnormal = 1 << FP_SUBNORMAL,
                kInfinite = 1 << FP_INFINITE, kNotANumber = 1 << FP_NAN;
  const int kinds = name == "finite"       ? kNormal | kSubnormal
                    : name == "infinite"   ? kInfinite
                    : name == "number"     ? kNormal | kSubnormal | kInfinite
                    : name == "notanumber" ? kNotANumber
                    : name == "normal"     ? kNormal
                    : name == "subnormal"  ? kSubnormal
                                           : 0;
  d.operation.mode = static_cast<uint8_t>(kinds);
  if (kinds == 0) return nullptr;
  return type == Type::kF32 ? test_lanes<float> : type == Type::kF64 ? test_lanes<double> : nullptr;
}

Run szext(Decoder& d) {
  const std::string_view mode = d.one_of({"clamp", "wrap"});
  const Type type = d.type();
  d.need_operands(3);
  d.take(type);
  if (mode == "clamp") {
    return type == Type::kS32 ? binary<Szext<true, true>, uint32_t, uint32_t>
                              : binary<Szext<true, false>, uint32_t, uint32_t>;
  }
  return type == Type::kS32 ? binary<Szext<false, true>, uint32_t, uint32_t>
                            : binary<Szext<false, false>, uint32_t, uint32_t>;
}

// Decodes cvt.pack.sat.u16.s32 d, a, b and cvt.pack.sat.u8.s32.b32 d, a, b, c.
Run cvt_pack(Decoder& d) {
  const std::string_view to = d.one_of({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (to.empty() || !d.has("pack") || !d.has("sat") || !d.has("s32")) return nullptr;
  const bool has_rest = d.has("b32"), is_signed_type = to[0] == 's';
  d.need_operands(has_rest ? 4 : 3);
  d.take(Type::kB32);
  if (to.size() == 3) {
    return is_signed_type ? binary<CvtPack<16, true>, uint32_t, int32_t>
                          : binary<CvtPack<16, false>, uint32_t, int32_t>;
  }
  return to[1] == '8'   ? pack_form<8>(is_signed_type)
         : to[1] == '4' ? pack_form<4>(is_signed_type)
                        : pack_form<2>(is_signed_type);
}

}  // namespace kernkit::simulator::ptx
