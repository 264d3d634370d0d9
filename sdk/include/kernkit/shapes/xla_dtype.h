// SPDX-License-Identifier: Apache-2.0
// dtype_of_xla(): converts XLA's number of a dtype to DLPack's dtype.
#pragma once

#include "kernkit/types/dtype.h"

namespace kernkit::shapes {

namespace detail {
struct XlaDType {
  int number;
  DLDataType dtype;
};
// Pairs of a number of XLA_FFI_DataType (xla/ffi/api/c_api.h) and its dtype. Dtypes of less than a
// byte are omitted.
KERNKIT_LOCAL inline constexpr XlaDType kXlaDTypes[] = {
    {1, dl_bool},
    {2, dl_int8},
    {3, dl_int16},
    {4, dl_int32},
    {5, dl_int64},
    {6, dl_uint8},
    {7, dl_uint16},
    {8, dl_uint32},
    {9, dl_uint64},
    {10, dl_float16},
    {11, dl_float32},
    {12, dl_float64},
    {15, make_dtype(DTypeCode::kComplex, 64)},
    {16, dl_bfloat16},
    {18, make_dtype(DTypeCode::kComplex, 128)},
    {19, make_dtype(DTypeCode::kFloat8E5M2, 8)},
    {20, make_dtype(DTypeCode::kFloat8E4M3FN, 8)},
    {23, make_dtype(DTypeCode::kFloat8E4M3B11FNUZ, 8)},
    {24, make_dtype(DTypeCode::kFloat8E5M2FNUZ, 8)},
    {25, make_dtype(DTypeCode::kFloat8E4M3FNUZ, 8)},
    {28, make_dtype(DTypeCode::kFloat8E4M3, 8)},
    {29, make_dtype(DTypeCode::kFloat8E3M4, 8)},
    {33, make_dtype(DTypeCode::kFloat8E8M0FNU, 8)},
};
inline constexpr int kMostXlaDTypes = 34;
struct XlaDTypes {
  DLDataType at[kMostXlaDTypes] = {};
};
constexpr XlaDTypes xla_dtypes() {
  XlaDTypes all;
  for (const XlaDType& entry : kXlaDTypes) all.at[entry.number] = entry.dtype;
  return all;
}
KERNKIT_LOCAL inline constexpr XlaDTypes kDTypeOfXla = xla_dtypes();
}  // namespace detail

/// Returns the dtype of a buffer from its number in XLA_FFI_DataType (xla/ffi/api/c_api.h). Returns
/// {} for an unknown number, and for a dtype that DLPack lacks or stores in another layout, such as
/// elements of less than a byte. Throws nothing.
constexpr DLDataType dtype_of_xla(int number) {
  const auto i = static_cast<unsigned>(number);
  return i < detail::kMostXlaDTypes ? detail::kDTypeOfXla.at[i] : DLDataType{};
}

}  // namespace kernkit::shapes
