// SPDX-License-Identifier: Apache-2.0
// DLDataType: constants, their C++ types, equality, size, name and parsing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "kernkit/abi/abi.h"
#include "kernkit/base/fixed_text.h"
#include "kernkit/types/dtype_name.h"

namespace kernkit {

/// Returns the DLDataType with this code, `bits` for each number, and `lanes` numbers in each
/// element. The combination is not checked. Throws nothing.
constexpr DLDataType make_dtype(DTypeCode code, uint8_t bits, uint16_t lanes = 1) {
  return DLDataType{static_cast<uint8_t>(code), bits, lanes};
}

inline constexpr DLDataType dl_bool = make_dtype(DTypeCode::kBool, 8);   ///< truth value, one byte
inline constexpr DLDataType dl_int8 = make_dtype(DTypeCode::kInt, 8);    ///< int8_t
inline constexpr DLDataType dl_int16 = make_dtype(DTypeCode::kInt, 16);  ///< int16_t
inline constexpr DLDataType dl_int32 = make_dtype(DTypeCode::kInt, 32);  ///< int32_t
inline constexpr DLDataType dl_int64 = make_dtype(DTypeCode::kInt, 64);  ///< int64_t
inline constexpr DLDataType dl_uint8 = make_dtype(DTypeCode::kUInt, 8);  ///< uint8_t
inline constexpr DLDataType dl_uint16 = make_dtype(DTypeCode::kUInt, 16);      ///< uint16_t
inline constexpr DLDataType dl_uint32 = make_dtype(DTypeCode::kUInt, 32);      ///< uint32_t
inline constexpr DLDataType dl_uint64 = make_dtype(DTypeCode::kUInt, 64);      ///< uint64_t
inline constexpr DLDataType dl_float16 = make_dtype(DTypeCode::kFloat, 16);    ///< IEEE binary16
inline constexpr DLDataType dl_bfloat16 = make_dtype(DTypeCode::kBfloat, 16);  ///< 8-bit exponent
inline constexpr DLDataType dl_float32 = make_dtype(DTypeCode::kFloat, 32);    ///< IEEE binary32
inline constexpr DLDataType dl_float64 = make_dtype(DTypeCode::kFloat, 64);    ///< IEEE binary64

/// The dtype whose elements are stored as T, e.g. `dtype_of<float>` is dl_float32. Integer types
/// map by width and sign. The storage types of float.h specialise the class, as user-defined types
/// may. Any other type is a compile error.
template <class T, class = void>
struct DTypeOf;
template <class T>
struct DTypeOf<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static constexpr DLDataType value =
      make_dtype(std::is_signed_v<T> ? DTypeCode::kInt : DTypeCode::kUInt, 8 * sizeof(T));
};
template <>
struct DTypeOf<bool> {
  static constexpr DLDataType value = dl_bool;
};
template <>
struct DTypeOf<float> {
  static constexpr DLDataType value = dl_float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DLDataType value = dl_float64;
};

namespace detail {
template <class T, class = void>
inline constexpr bool kHasDType = false;
template <class T>
inline constexpr bool kHasDType<T, std::void_t<decltype(DTypeOf<T>::value)>> = true;

// Causes a single compile error for a type without a dtype, without consequential errors.
template <class T>
constexpr DLDataType find_dtype() {
  static_assert(kHasDType<T>,
                "kernkit: this type has no dtype; specialise kernkit::DTypeOf for it");
  if constexpr (kHasDType<T>) return DTypeOf<T>::value;
  return {};
}
}  // namespace detail

/// The dtype whose elements are stored as T: DTypeOf<T>::value. A type without a dtype is a compile
/// error.
template <class T>
inline constexpr DLDataType dtype_of = detail::find_dtype<T>();

/// The whole dtype as a number for comparisons and switch statements: from the lowest byte up,
/// code, bits and lanes. Equal keys mean equal dtypes. Throws nothing.
constexpr uint32_t dtype_key(DLDataType dtype) { return __builtin_bit_cast(uint32_t, dtype); }

/// Size of one element, lanes included [bits]: the product of bits and lanes, below 2^24; 0 for a
/// dtype without bits or lanes. The size of float4 is 4: two elements share a byte. Throws nothing.
constexpr uint32_t dtype_bits(DLDataType dtype) {
  const uint32_t key = dtype_key(dtype);
  return (key >> 8 & 0xff) * (key >> 16);
}

/// Returns the name of a dtype, such as "float32", "bool" or "float8_e4m3fn"; a number of lanes
/// other than 1 follows, as in "float16x4". A dtype with an unknown code, or with bits that its
/// code does not support, has a name such as "dtype(code=99, bits=7)". Codes are printed as
/// numbers, never as characters. Throws nothing.
[[gnu::cold]] constexpr FixedText<40> dtype_name(DLDataType dtype) {
  FixedText<40> result{};
  char* out = result.text;
  bool is_known = false;
  for (const auto& entry : detail::kDTypeNames) {
    if (static_cast<uint8_t>(entry.code) != dtype.code) continue;
    if (entry.bits != 0 && entry.bits != dtype.bits) continue;
    is_known = true;
    out = detail::append(out, entry.name);
    if (entry.bits == 0) out = detail::append(out, uint32_t{dtype.bits});
    break;
  }
  if (!is_known) {
    out = detail::append(detail::append(out, "dtype(code="), uint32_t{dtype.code});
    out = detail::append(detail::append(out, ", bits="), uint32_t{dtype.bits});
    out = detail::append(out, ")");
  }
  if (dtype.lanes != 1) detail::append(detail::append(out, "x"), uint32_t{dtype.lanes});
  return result;
}

/// Parses a name as dtype_name() returns it, such as "float32" or "float16x4", with `size`
/// characters, and sets *out. Returns false, and leaves *out unchanged, for any other text,
/// "dtype(code=99, bits=7)" included. Throws nothing.
[[gnu::cold]] constexpr bool parse_dtype(const char* text, size_t size, DLDataType* out) {
  const DTypeParts parts = parse_dtype_name(text, size);
  if (parts.bits == 0) return false;
  *out = make_dtype(parts.code, parts.bits, parts.lanes);
  return true;
}

}  // namespace kernkit

/// True for the same code, bits and lanes. Throws nothing. The operator is in the namespace of
/// DLDataType, the global namespace. A template, so that overload resolution prefers the
/// non-template operator that tvm-ffi's headers define there.
template <class T, std::enable_if_t<std::is_same_v<T, DLDataType>, int> = 0>
constexpr bool operator==(T a, T b) {
  return kernkit::dtype_key(a) == kernkit::dtype_key(b);
}
/// True if the code, the bits or the lanes differ. Throws nothing.
template <class T, std::enable_if_t<std::is_same_v<T, DLDataType>, int> = 0>
constexpr bool operator!=(T a, T b) {
  return !(a == b);
}
