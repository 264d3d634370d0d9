// SPDX-License-Identifier: Apache-2.0
// PTX ISA: cvt. Common forms have their own loops. Other forms convert lane by lane, through the
// widest integer type or double precision (convert_lane.cc).
#include "ptx/simd/convert.h"
#include "ptx/decode/decoder.h"
#include "ptx/isa/semantics.h"
#include "ptx/semantics/convert_lane.h"
#include "ptx/semantics/type_dispatch.h"

namespace kernkit::simulator::ptx {
namespace {

using namespace convert_steps;  // NOLINT(build/namespaces): its own steps

template <class D>
struct ToInteger {
  template <class S>
  static constexpr Run run = unary<To<D>, D, S>;
};
Run integer_to_integer(Type to, Type from) {
  switch (to) {
    case Type::kU16:
    case Type::kS16: return of_integer<ToInteger<uint16_t>>(from);
    case Type::kU32:
    case Type::kS32: return of_integer<ToInteger<uint32_t>>(from);
    case Type::kU64:
    case Type::kS64: return of_integer<ToInteger<uint64_t>>(from);
    default: return nullptr;
  }
}

uint8_t mode_of(Decoder& d, std::string_view how) {
  return static_cast<uint8_t>((how == "rz" ? kToZero : 0) | (d.has("relu") ? kRelu : 0) |
                              (d.has("satfinite") ? kFinite : 0));
}

Run from_two(Decoder& d, Type to, Type from, std::string_view how) {
  d.need_operands(3);
  const uint8_t mode = d.operation.mode = mode_of(d, how);
  d.take({to, from, from});
  if (to == Type::kF16x2) {
    return mode == 0       ? narrow_two<Half, false>
           : mode == kRelu ? narrow_two<Half, true>
                           : narrow_to_f16x2;
  }
  if (to == Type::kBF16x2) {
    return mode == 0       ? narrow_two<BHalf, false>
           : mode == kRelu ? narrow_two<BHalf, true>
                           : narrow_to_bf16x2;
  }
  if (how != "rn" || (mode & kFinite) == 0) return nullptr;
  return to == Type::kE4M3x2 ? narrow_to_e4m3x2 : narrow_to_e5m2x2;
}

// Decodes cvt.rn.satfinite.e4m3x2.f16x2 and cvt.rn.f16x2.e4m3x2.
Run between_pairs(Decoder& d, Type to, Type from, std::string_view how) {
  d.need_operands(2);
  const uint8_t mode = d.operation.mode = mode_of(d, how);
  d.take({to, from});
  const bool is_finite = (mode & kFinite) != 0;
  if (how != "rn" || is_finite != (from == Type::kF16x2)) return nullptr;
  if (from == Type::kF16x2) {
    return to == Type::kE4M3x2   ? narrow_pair_to_e4m3x2
           : to == Type::kE5M2x2 ? narrow_pair_to_e5m2x2
                                 : nullptr;
  }
  if (to != Type::kF16x2) return nullptr;
  return from == Type::kE4M3x2 ? widen_e4m3x2 : from == Type::kE5M2x2 ? widen_e5m2x2 : nullptr;
}

bool is_pair(Type type) {
  return type == Type::kF16x2 || type == Type::kBF16x2 || type == Type::kE4M3x2 ||
         type == Type::kE5M2x2;
}

template <TF32Rounding kRounding>
Run tf32_form(uint8_t mode) {
  const bool relu = (mode & kRelu) != 0;
  if ((mode & kFinite) != 0) {
    return relu ? unary<ToTF32<kRounding, true, true>, uint32_t, float>
                : unary<ToTF32<kRounding, false, true>, uint32_t, float>;
  }
  return relu ? unary<ToTF32<kRounding, true>, uint32_t, float>
              : unary<ToTF32<kRounding>, uint32_t, float>;
}
Run to_tf32(Decoder& d) {
  const std::string_view how = d.one_of({"rna", "rn", "rz"});
  if (d.type() != Type::kF32) return nullptr;
  d.need_operands(2);
  d.take({Type::kB32, Type::kF32});
  const uint8_t mode = mode_of(d, how);
  if (how == "rna") {
    return (mode & kRelu) != 0 ? nullptr : tf32_form<TF32Rounding::kNearestAway>(mode);
  }
  if (how == "rn") return tf32_form<TF32Rounding::kNearestEven>(mode);
  return how == "rz" ? tf32_form<TF32Rounding::kZero>(mode) : nullptr;
}

Run usual_form(Type to, Type from) {
  if (to == Type::kF32 && from == Type::kF16) return unary<Widen<Half>, float, Half>;
  if (to == Type::kF32 && from == Type::kBF16) return unary<Widen<BHalf>, float, BHalf>;
  if (to == Type::kF16 && from == Type::kF32) return unary<Narrow<Half>, Half, float>;
  if (to == Type::kBF16 && from == Type::kF32) return unary<Narrow<BHalf>, BHalf, float>;
  if (to == Type::kF32 && from == Type::kS32) return unary<To<float>, float, int32_t>;
  if (to == Type::kF32 && from == Type::kU32) return unary<To<float>, float, uint32_t>;
  if (to == Type::kF64 && from == Type::kF32) return unary<To<double>, double, float>;
  if (to == Type::kF64 && from == Type::kS32) return unary<To<double>, double, int32_t>;
  return integer_to_integer(to, from);
}

}  // namespace

Run cvt(Decoder& d) {
  if (d.has("tf32")) return to_tf32(d);
  const std::string_view how = d.one_of({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"});
  const Type to = d.type(), from = d.type();
  if (is_pair(to) && from == Type::kF32) {
    return how == "rn" || how == "rz" ? from_two(d, to, from, how) : nullptr;
  }
  if (is_pair(to) || is_pair(from)) return between_pairs(d, to, from, how);
  d.need_operands(2);
  if (d.has("relu") || d.has("satfinite")) {  // modifiers of .f16 and .bf16 only
    d.operation.mode = mode_of(d, how);
    d.take({to, from});
    return to == Type::kF16 ? narrow_to_f16 : narrow_to_bf16;
  }
  Conversion conversion;
  conversion.to = to;
  conversion.from = from;
  conversion.saturates = d.has("sat");
  conversion.flushes = d.has("ftz");
  if (how.size() == 3) conversion.to_integral = true;
  if (!how.empty()) {
    conversion.rounding = how[1] == 'n'   ? Rounding::kNearest
                          : how[1] == 'z' ? Rounding::kZero
                          : how[1] == 'm' ? Rounding::kDown
                                          : Rounding::kUp;
  }
  // The registers may be wider than the types of the conversion.
  const Type to_register = d.type_of_register(d.operand(0));
  Type from_register = d.type_of_register(d.operand(1));
  if (from_register == Type::kNone) from_register = from;
  if (to_register == Type::kNone || size_of(to_register) < size_of(to) ||
      size_of(from_register) < size_of(from)) {
    return nullptr;
  }
  d.take({to_register, from_register});
  conversion.to_size = register_size(to_register);
  conversion.from_size = register_size(from_register);
  const bool plain = !conversion.saturates && !conversion.flushes && !conversion.to_integral &&
                     conversion.rounding == Rounding::kNearest &&
                     conversion.to_size == size_of(to) && conversion.from_size == size_of(from);
  if (const Run usual = plain ? usual_form(to, from) : nullptr) return usual;
  if (!is_known(conversion)) return nullptr;
  d.operation.offset = pack(conversion);
  return convert_lanes;
}

}  // namespace kernkit::simulator::ptx
