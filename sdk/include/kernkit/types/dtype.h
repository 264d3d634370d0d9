// SPDX-License-Identifier: Apache-2.0
// DLDataType: constants, their C++ types, equality, size, name and parsing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#include "kernkit/abi/abi.h"
#include "kernkit/base/cold.h"
#include "kernkit/base/fixed_text.h"

namespace kernkit {

/// DLPack's dtype codes up to 1.3, by number, for older versions of dlpack.h. Source of names and
/// meaning: enum DLDataTypeCode of dlpack.h.
enum class DTypeCode : uint8_t {
  kInt = 0,                ///< signed integer, two's complement
  kUInt = 1,               ///< unsigned integer
  kFloat = 2,              ///< IEEE 754 binary16, binary32 or binary64
  kOpaqueHandle = 3,       ///< an opaque value, such as a pointer
  kBfloat = 4,             ///< bfloat16: the upper half of a binary32
  kComplex = 5,            ///< two floats, each of half the bits: real part, imaginary part
  kBool = 6,               ///< one byte, 0 or 1
  kFloat8E3M4 = 7,         ///< 3 exponent bits, 4 mantissa bits, with infinity
  kFloat8E4M3 = 8,         ///< 4 exponent bits, 3 mantissa bits, with infinity
  kFloat8E4M3B11FNUZ = 9,  ///< bias 11, no infinity, no negative zero
  kFloat8E4M3FN = 10,      ///< OCP E4M3: NaN, no infinity
  kFloat8E4M3FNUZ = 11,    ///< bias 8, no infinity, no negative zero
  kFloat8E5M2 = 12,        ///< OCP E5M2: the upper half of a binary16
  kFloat8E5M2FNUZ = 13,    ///< bias 16, no infinity, no negative zero
  kFloat8E8M0FNU = 14,     ///< OCP MX scale: a power of two, no sign, no zero
  kFloat6E2M3FN = 15,      ///< OCP MX E2M3: finite values only
  kFloat6E3M2FN = 16,      ///< OCP MX E3M2: finite values only
  kFloat4E2M1FN = 17,      ///< OCP MX E2M1: finite values only
};

/// The DLDataType with this code, `bits` per number, and `lanes` numbers per element. The
/// combination is not checked.
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

/// The dtype whose elements are stored as T, e.g. `dtype_of<float>` is dl_float32. Integers map by
/// width and sign; the storage types of float.h specialise the class, and so may a user's type.
/// Other types do not compile.
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

// Gives one compile error, and no errors that follow from it.
template <class T>
constexpr DLDataType find_dtype() {
  static_assert(kHasDType<T>,
                "kernkit: this type has no dtype; specialise kernkit::DTypeOf for it");
  if constexpr (kHasDType<T>) return DTypeOf<T>::value;
  return {};
}
}  // namespace detail

/// The dtype whose elements are stored as T: DTypeOf<T>::value. A type without a dtype is one
/// compile error.
template <class T>
inline constexpr DLDataType dtype_of = detail::find_dtype<T>();

/// The whole dtype as one number, for comparisons and switch: code, bits and lanes from the lowest
/// byte up.
constexpr uint32_t dtype_key(DLDataType dtype) { return __builtin_bit_cast(uint32_t, dtype); }

/// Size of one element, lanes included [bits].
constexpr uint32_t dtype_bits(DLDataType dtype) {
  const uint32_t key = dtype_key(dtype);
  return (key >> 8 & 0xff) * (key >> 16);
}

namespace detail {

struct DTypeName {
  DTypeCode code;
  uint8_t bits;   // 0: the number of bits is appended to the name
  char name[19];  // in place, because a pointer would be relocated when a library is loaded
};

// The names of float8 and smaller types contain their bits, in the notation of ml_dtypes.
KERNKIT_LOCAL inline constexpr DTypeName kDTypeNames[] = {
    {DTypeCode::kBool, 8, "bool"},
    {DTypeCode::kInt, 0, "int"},
    {DTypeCode::kUInt, 0, "uint"},
    {DTypeCode::kFloat, 0, "float"},
    {DTypeCode::kBfloat, 0, "bfloat"},
    {DTypeCode::kComplex, 0, "complex"},
    {DTypeCode::kOpaqueHandle, 0, "handle"},
    {DTypeCode::kFloat8E3M4, 8, "float8_e3m4"},
    {DTypeCode::kFloat8E4M3, 8, "float8_e4m3"},
    {DTypeCode::kFloat8E4M3B11FNUZ, 8, "float8_e4m3b11fnuz"},
    {DTypeCode::kFloat8E4M3FN, 8, "float8_e4m3fn"},
    {DTypeCode::kFloat8E4M3FNUZ, 8, "float8_e4m3fnuz"},
    {DTypeCode::kFloat8E5M2, 8, "float8_e5m2"},
    {DTypeCode::kFloat8E5M2FNUZ, 8, "float8_e5m2fnuz"},
    {DTypeCode::kFloat8E8M0FNU, 8, "float8_e8m0fnu"},
    {DTypeCode::kFloat6E2M3FN, 6, "float6_e2m3fn"},
    {DTypeCode::kFloat6E3M2FN, 6, "float6_e3m2fn"},
    {DTypeCode::kFloat4E2M1FN, 4, "float4_e2m1fn"},
};

// Reads the number at text[*pos] and advances *pos; 0 if there is none, or if it begins with 0 or
// exceeds 65535.
[[gnu::cold]] constexpr uint32_t read_number(const char* text, size_t size, size_t* pos) {
  if (*pos < size && text[*pos] == '0') return 0;
  uint32_t number = 0;
  for (; *pos < size && text[*pos] >= '0' && text[*pos] <= '9' && number <= 0xffff; ++*pos) {
    number = number * 10 + static_cast<uint32_t>(text[*pos] - '0');
  }
  return number <= 0xffff ? number : 0;
}

}  // namespace detail

/// "float32", "bool", "float8_e4m3fn", "float16x4" (lanes); an unknown code is
/// "dtype(code=99, bits=7)". Codes are printed as numbers, never as characters.
[[gnu::cold]] constexpr FixedText<40> dtype_name(DLDataType dtype) {
  FixedText<40> result{};
  char* out = result.text;
  bool known = false;
  for (const auto& entry : detail::kDTypeNames) {
    if (static_cast<uint8_t>(entry.code) != dtype.code) continue;
    if (entry.bits != 0 && entry.bits != dtype.bits) continue;
    known = true;
    out = detail::append(out, entry.name);
    if (entry.bits == 0) out = detail::append(out, uint32_t{dtype.bits});
    break;
  }
  if (!known) {
    out = detail::append(detail::append(out, "dtype(code="), uint32_t{dtype.code});
    out = detail::append(detail::append(out, ", bits="), uint32_t{dtype.bits});
    out = detail::append(out, ")");
  }
  if (dtype.lanes != 1) detail::append(detail::append(out, "x"), uint32_t{dtype.lanes});
  return result;
}

/// Parses the output of dtype_name(). Returns false, and leaves *out unchanged, if `text` (of
/// `size` characters) is not the name of a dtype.
[[gnu::cold]] constexpr bool parse_dtype(const char* text, size_t size, DLDataType* out) {
  for (const auto& entry : detail::kDTypeNames) {
    size_t pos = 0;
    while (pos < size && entry.name[pos] != '\0' && entry.name[pos] == text[pos]) ++pos;
    if (entry.name[pos] != '\0') continue;
    const uint32_t bits = entry.bits != 0 ? entry.bits : detail::read_number(text, size, &pos);
    uint32_t lanes = 1;
    if (pos < size && text[pos] == 'x') {
      lanes = detail::read_number(text, size, &++pos);
      if (lanes < 2) continue;  // one lane is not written
    }
    if (pos != size || bits == 0 || bits > 0xff) continue;
    *out = make_dtype(entry.code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes));
    return true;
  }
  return false;
}

}  // namespace kernkit

/// True for the same code, bits and lanes. In the global namespace because DLDataType is; a
/// template, so that it gives way to the non-template operator that tvm-ffi's headers define there
/// as well.
template <class T, std::enable_if_t<std::is_same_v<T, DLDataType>, int> = 0>
constexpr bool operator==(T a, T b) {
  return kernkit::dtype_key(a) == kernkit::dtype_key(b);
}
/// True if the code, the bits or the lanes differ.
template <class T, std::enable_if_t<std::is_same_v<T, DLDataType>, int> = 0>
constexpr bool operator!=(T a, T b) {
  return !(a == b);
}
