// SPDX-License-Identifier: Apache-2.0
// Names of dtypes in tvm-ffi's notation. (Comparison is in kernkit/types/dtype.h.)
#pragma once

#include "tvm/ffi/string.h"

KERNKIT_TVM_FFI_BEGIN
using ::DLDataType, ::DLDevice;

namespace detail {
/// Reads the name of a dtype from left to right.
class DTypeReader {
 public:
  DTypeReader(const char* text, size_t size) : text_(text), size_(size) {}

  /// Reads the name into *out. Returns false, and leaves *out unchanged, if the text is not a name.
  bool read(DLDataType* out) {
    if (kernkit::parse_dtype(text_, size_, out)) return true;
    if (size_ == 0 || (take("void") && pos_ == size_)) {
      *out = kernkit::make_dtype(kernkit::DTypeCode::kOpaqueHandle, 0, 0);
      return true;
    }
    return read_small_float(out) || read_family(out);
  }

 private:
  /// Reads the name of a float type of 8 or fewer bits, in which "fp" or "f" may replace "float":
  /// "fp8_e4m3", "f4_e2m1fn_x2".
  bool read_small_float(DLDataType* out) {
    for (const char* word : {"float", "fp", "f"}) {
      for (const auto& entry : kernkit::detail::kDTypeNames) {
        pos_ = 0;
        const bool is_small = entry.bits != 0 && entry.code != kernkit::DTypeCode::kBool;
        if (!is_small || !take(word) || !take(entry.name + strlen("float"))) continue;
        if (entry.bits == 4) take("_");
        if (read_lanes(entry.code, entry.bits, out)) return true;
      }
    }
    return false;
  }
  /// Reads a word, optional bits and optional lanes: "int", "int8x2", "i8", "float32xvscalex4".
  bool read_family(DLDataType* out) {
    using Code = kernkit::DTypeCode;
    constexpr struct {
      const char* word;
      Code code;
      uint8_t bits;
      bool is_short;  // bits must follow
    } kFamilies[] = {
        {"int", Code::kInt, 32, false},       {"i", Code::kInt, 0, true},
        {"uint", Code::kUInt, 32, false},     {"u", Code::kUInt, 0, true},
        {"float", Code::kFloat, 32, false},   {"f", Code::kFloat, 32, true},
        {"bfloat", Code::kBfloat, 16, false}, {"bf", Code::kBfloat, 16, true},
        {"bool", Code::kBool, 8, false},      {"handle", Code::kOpaqueHandle, 64, false},
    };
    for (const auto& family : kFamilies) {
      pos_ = 0;
      if (!take(family.word)) continue;
      uint32_t bits = 0;
      const bool has_bits = read_number(&bits);
      if (bits > UINT8_MAX || (family.is_short && !has_bits)) continue;
      if (bits == 0) bits = family.bits != 0 ? family.bits : 32;
      if (take("xvscale")) {
        if (!read_lanes(family.code, bits, out)) continue;
        if (out->lanes != 1) out->lanes = static_cast<uint16_t>(-out->lanes);
        return true;
      }
      if (read_lanes(family.code, bits, out)) return true;
    }
    return false;
  }
  /// Reads the end of the name, or a number of lanes such as "x4" and the end.
  bool read_lanes(kernkit::DTypeCode code, uint32_t bits, DLDataType* out) {
    uint32_t lanes = 1;
    if (take("x") && (!read_number(&lanes) || lanes == 0 || lanes > UINT16_MAX)) return false;
    if (pos_ != size_) return false;
    *out = kernkit::make_dtype(code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes));
    return true;
  }
  bool read_number(uint32_t* out) {
    const size_t begin = pos_;
    uint64_t number = 0;
    for (; pos_ < size_ && text_[pos_] >= '0' && text_[pos_] <= '9'; ++pos_) {
      if (number <= UINT16_MAX) number = number * 10 + static_cast<uint64_t>(text_[pos_] - '0');
    }
    if (pos_ != begin) *out = static_cast<uint32_t>(number);
    return pos_ != begin;
  }
  bool take(const char* word) {
    const size_t size = strlen(word);
    if (size > size_ - pos_ || memcmp(text_ + pos_, word, size) != 0) return false;
    pos_ += size;
    return true;
  }

  const char* text_;
  size_t size_;
  size_t pos_ = 0;
};

[[gnu::cold]] inline bool read_dtype(const char* text, size_t size, DLDataType* out) {
  return DTypeReader(text, size).read(out);
}
}  // namespace detail

/// Returns the name of a dtype in tvm-ffi's notation: "float32", "int8x4", "" for void. Returns
/// kernkit's name if tvm-ffi has no name for the dtype: "complex64".
[[gnu::cold]] inline String DLDataTypeToString(DLDataType dtype) {
  const auto code = static_cast<kernkit::DTypeCode>(dtype.code);
  kernkit::Message text;
  if (code == kernkit::DTypeCode::kOpaqueHandle) {
    return dtype.bits == 0 && dtype.lanes == 0 ? "" : "handle";
  }
  if (code == kernkit::DTypeCode::kComplex || code > kernkit::DTypeCode::kFloat4E2M1FN) {
    text << dtype;
    return String(text.c_str(), text.size());
  }
  for (const auto& entry : kernkit::detail::kDTypeNames) {
    if (entry.code == code) text << entry.name;
  }
  const bool has_bits =
      code < kernkit::DTypeCode::kBool || (code == kernkit::DTypeCode::kBool && dtype.bits != 8);
  if (has_bits) text << int{dtype.bits};
  const auto lanes = static_cast<int16_t>(dtype.lanes);
  if (lanes > 1) text << "x" << int{lanes};
  if (lanes < -1) text << "xvscalex" << -int{lanes};
  return String(text.c_str(), text.size());
}
/// Returns the dtype of a name in tvm-ffi's notation, such as "float32", "int8x4" or "f16". Throws
/// ValueError if no dtype has the name.
inline DLDataType StringToDLDataType(const String& name) {
  DLDataType dtype{};
  if (detail::read_dtype(name.data(), name.size(), &dtype)) return dtype;
  TVM_FFI_THROW(ValueError) << "unknown dtype `" << name << "`";
}
KERNKIT_TVM_FFI_END

/// Prints the name of a dtype in tvm-ffi's notation and returns the stream.
inline std::ostream& operator<<(std::ostream& out, DLDataType dtype) {
  return out << tvm::ffi::DLDataTypeToString(dtype);
}
