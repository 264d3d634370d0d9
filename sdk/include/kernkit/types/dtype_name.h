// SPDX-License-Identifier: Apache-2.0
// DTypeCode: DLPack's dtype codes and the names of dtypes, without dlpack.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernkit/base/cold.h"

namespace kernkit {

/// Numbers of DLPack's dtype codes up to version 1.3, for use with older versions of dlpack.h.
/// The names and values are the same as in enum DLDataTypeCode of dlpack.h.
enum class DTypeCode : uint8_t {
  kInt = 0,                ///< signed integer, two's complement
  kUInt = 1,               ///< unsigned integer
  kFloat = 2,              ///< IEEE 754 binary16, binary32 or binary64
  kOpaqueHandle = 3,       ///< an opaque value, such as a pointer
  kBfloat = 4,             ///< bfloat16: the upper half of a binary32
  kComplex = 5,            ///< real and imaginary part, each a float of half the bits
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

namespace detail {

struct DTypeName {
  DTypeCode code;
  uint8_t bits;   // 0 if the number of bits is appended to the name
  char name[19];  // an array, because loading a library would relocate a pointer
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

// Reads the number at text[*pos] and advances *pos past it. Returns 0 if there is no number, if the
// number begins with 0, or if it exceeds 65535.
[[gnu::cold]] constexpr uint32_t read_number(const char* text, size_t size, size_t* pos) {
  if (*pos < size && text[*pos] == '0') return 0;
  uint32_t number = 0;
  for (; *pos < size && text[*pos] >= '0' && text[*pos] <= '9' && number <= 0xffff; ++*pos) {
    number = number * 10 + static_cast<uint32_t>(text[*pos] - '0');
  }
  return number <= 0xffff ? number : 0;
}

}  // namespace detail

/// The members of a DLDataType.
struct DTypeParts {
  DTypeCode code = DTypeCode::kInt;  ///< kind of the numbers
  uint8_t bits = 0;                  ///< bits of a number; 0 if there is no dtype
  uint16_t lanes = 1;                ///< numbers per element
};

/// Returns the dtype with this name, as dtype_name() of dtype.h writes it, or no dtype (0 bits) for
/// any other text. `text` has `size` characters, and needs no NUL. Throws nothing.
[[gnu::cold]] constexpr DTypeParts parse_dtype_name(const char* text, size_t size) {
  for (const auto& entry : detail::kDTypeNames) {
    size_t pos = 0;
    while (pos < size && entry.name[pos] != '\0' && entry.name[pos] == text[pos]) ++pos;
    if (entry.name[pos] != '\0') continue;
    const uint32_t bits = entry.bits != 0 ? entry.bits : detail::read_number(text, size, &pos);
    uint32_t lanes = 1;
    if (pos < size && text[pos] == 'x') {
      lanes = detail::read_number(text, size, &++pos);
      if (lanes < 2) continue;  // a name has a suffix only for two or more lanes
    }
    if (pos != size || bits == 0 || bits > 0xff) continue;
    return {entry.code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  }
  return {};
}

}  // namespace kernkit
