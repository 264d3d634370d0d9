// SPDX-License-Identifier: Apache-2.0
// Names of dtypes. (Comparison is in kernkit/types/dtype.h.)
#pragma once

#include "tvm/ffi/string.h"

KERNKIT_TVM_FFI_BEGIN
using ::DLDataType, ::DLDevice;
inline String DLDataTypeToString(DLDataType dtype) {
  kernkit::Message text;
  text << dtype;
  return String(text.c_str(), text.size());
}
/// ValueError for a name of no dtype.
inline DLDataType StringToDLDataType(const String& name) {
  DLDataType dtype{};
  if (kernkit::parse_dtype(name.data(), name.size(), &dtype)) return dtype;
  TVM_FFI_THROW(ValueError) << "unknown dtype `" << name << "`";
}
KERNKIT_TVM_FFI_END

inline std::ostream& operator<<(std::ostream& out, DLDataType dtype) {
  return out << tvm::ffi::DLDataTypeToString(dtype);
}
