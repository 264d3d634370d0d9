// SPDX-License-Identifier: Apache-2.0
// Elements: a tensor's contents in row-major order, and comparison of two results.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernkit/dispatch.h"
#include "kernkit/testing/reference.h"

namespace kernkit::testing::contract {

/// A tensor's contents.
struct Elements {
  DLDataType dtype;                  ///< dtype that the bytes encode
  std::vector<unsigned char> bytes;  ///< contents in row-major order, without gaps
};

/// The dtypes whose elements are read and written as numbers; elements of other dtypes are treated
/// as bytes.
using Numbers = types<float16, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t,
                      uint16_t, uint32_t, uint64_t, bool>;

/// Returns whether the dtype, lanes included, is the dtype of a type in Numbers. Throws nothing.
inline bool is_number(DLDataType dtype) { return contains(Numbers{}, dtype); }
/// Returns whether an element with all its lanes takes a whole number of bytes, unlike a single
/// float4_e2m1fn. Throws nothing.
inline bool is_multiple_of_byte(DLDataType dtype) { return dtype_bits(dtype) % 8 == 0; }
/// Returns the size of n >= 0 packed elements with all lanes, rounded up [bytes]. Neither a
/// negative n nor overflow is checked. Throws nothing.
inline size_t bytes_of(DLDataType dtype, int64_t n) {
  return (static_cast<size_t>(n) * dtype_bits(dtype) + 7) / 8;
}

/// Precision and range of a dtype's numbers; both are 0 for a dtype not in Numbers.
struct NumberFormat {
  double epsilon = 0;  ///< distance from 1 to the next float, 2^-mantissa bits; 0 for integers
  /// Largest value of an integer, as a double, and of float64; 1 for bool; for other floats, the
  /// largest power of two.
  double largest = 0;
};
/// Returns precision and range of a dtype's numbers; both are 0 for a dtype not in Numbers. Throws
/// nothing.
inline NumberFormat format_of(DLDataType dtype) {
  NumberFormat format;
  if (!is_number(dtype)) return format;
  dispatch(Numbers{}, dtype, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    if constexpr (std::is_integral_v<T>) {
      format.largest = static_cast<double>(std::numeric_limits<T>::max());
    } else if constexpr (std::is_same_v<T, double>) {
      format = {0x1p-52, std::numeric_limits<double>::max()};
    } else {
      using F = FloatFormat<T>;
      format.epsilon = std::ldexp(1.0, -F::kMantissaBits);
      format.largest = std::ldexp(1.0, (1 << (F::kExponentBits - 1)) - 1);
    }
  });
  return format;
}

/// Returns element i in row-major order, counted from 0, as a number: the exact value, NaN or
/// infinity; 64-bit integers beyond 2^53 are rounded to nearest, and a bool is 0 or 1. The index is
/// not checked. Throws TypeError unless the dtype is_number().
inline double number_at(const Elements& elements, size_t i) {
  double value = 0;
  dispatch(Numbers{}, elements.dtype, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    if constexpr (std::is_same_v<T, bool>) {
      value = elements.bytes[i] != 0;
    } else {
      T element;
      std::memcpy(static_cast<void*>(&element), &elements.bytes[i * sizeof(T)], sizeof(T));
      value = decode(element);
    }
  });
  return value;
}

/// Returns n elements; element i has the value values[i % values.size()]. Requires n >= 0 and that
/// `values` is not empty. Floats are rounded to nearest even, also to infinity. For an integer
/// dtype the value is truncated, and must then be in the dtype's range; a bool is true for a value
/// that is odd after truncation to int64_t. For a dtype not in Numbers the bytes of the elements,
/// not the elements, get the values, which must then truncate to 0 to 255. Ranges are not checked.
/// Throws only std::bad_alloc.
inline Elements make_elements(DLDataType dtype, int64_t n, const std::vector<double>& values) {
  Elements elements{dtype, std::vector<unsigned char>(bytes_of(dtype, n))};
  if (!is_number(dtype)) {
    for (size_t i = 0; i < elements.bytes.size(); ++i) {
      elements.bytes[i] = static_cast<unsigned char>(values[i % values.size()]);
    }
    return elements;
  }
  dispatch(Numbers{}, dtype, [&](auto tag) {
    using T = type_of<decltype(tag)>;
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const double value = values[i % values.size()];
      T element;
      if constexpr (std::is_same_v<T, bool>) {
        element = static_cast<int64_t>(value) % 2 != 0;
      } else if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(value);
      } else {
        element = round_to<T>(value);
      }
      std::memcpy(&elements.bytes[i * sizeof(T)], static_cast<const void*>(&element), sizeof(T));
    }
  });
  return elements;
}

/// Returns the number in decimal with at most 15 digits, or 17 if 15 do not read back as the same
/// number; "inf" or "nan" for special values. Throws only std::bad_alloc.
inline std::string text_of(double value) { return (Message().stream() << value).c_str(); }

/// Compares two results. Returns "" if they are equal, otherwise a clause: "element 3 is 7, not 14"
/// for the first element in row-major order that differs, or a clause that names the dtype, the
/// number of elements or the bytes as different. Floats may differ by 4 NumberFormat::epsilon times
/// the largest finite magnitude in `expected`: another code path of an op may round differently.
/// NaN equals NaN, 0 equals -0, and an infinity equals only itself. Integers are compared as
/// number_at() returns them, elements of a dtype not in Numbers as bytes. Throws only
/// std::bad_alloc.
inline std::string difference(const Elements& actual, const Elements& expected) {
  if (actual.dtype != expected.dtype || actual.bytes.size() != expected.bytes.size()) {
    return "it has another dtype or another number of elements";
  }
  if (!is_number(actual.dtype)) {
    return actual.bytes == expected.bytes ? "" : "its bytes differ";
  }
  const size_t n = actual.bytes.size() * 8 / dtype_bits(actual.dtype);
  double largest = 0;
  for (size_t i = 0; i < n; ++i) {
    const double value = std::fabs(number_at(expected, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const double slack = 4 * format_of(actual.dtype).epsilon * largest;
  for (size_t i = 0; i < n; ++i) {
    const double actual_value = number_at(actual, i), expected_value = number_at(expected, i);
    const bool same = actual_value == expected_value ||
                      (std::isnan(actual_value) && std::isnan(expected_value)) ||
                      std::fabs(actual_value - expected_value) <= slack;
    if (!same) {
      return "element " + std::to_string(i) + " is " + text_of(actual_value) + ", not " +
             text_of(expected_value);
    }
  }
  return "";
}

/// Compares results of different dtypes as numbers. Returns "", or a clause: "element 3 is 7, not
/// 14" for the first element that differs, or a clause that the numbers of elements differ.
/// `epsilon` is NumberFormat::epsilon of the coarsest float in the calls. Two elements may differ
/// by 8 max(epsilon, epsilon of the dtype of `actual`) max(1, M), where M is the largest finite
/// magnitude in `expected`, and by 1 more if the dtype of `actual` is an integer, which loses the
/// fraction. Elements of `expected` are not compared if they are NaN or infinite, if their
/// magnitude is half of NumberFormat::largest of the dtype of `actual` or more, or if they are
/// negative and that dtype is unsigned. Returns "" if a dtype is bool or not in Numbers. Throws
/// only std::bad_alloc.
inline std::string difference_of_numbers(const Elements& actual, const Elements& expected,
                                         double epsilon) {
  const bool comparable = is_number(actual.dtype) && is_number(expected.dtype) &&
                          actual.dtype != dl_bool && expected.dtype != dl_bool;
  if (!comparable) return "";
  const size_t n = expected.bytes.size() * 8 / dtype_bits(expected.dtype);
  if (actual.bytes.size() * 8 / dtype_bits(actual.dtype) != n) {
    return "it has another number of elements";
  }
  const NumberFormat format = format_of(actual.dtype);
  double largest = 1;
  for (size_t i = 0; i < n; ++i) {
    const double value = std::fabs(number_at(expected, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  const double slack = 8 * std::max(format.epsilon, epsilon) * largest;
  for (size_t i = 0; i < n; ++i) {
    const double actual_value = number_at(actual, i), expected_value = number_at(expected, i);
    const bool holds =
        std::fabs(expected_value) < format.largest / 2 &&
        (expected_value >= 0 || actual.dtype.code != static_cast<uint8_t>(DTypeCode::kUInt));
    const double cut = format.epsilon == 0 ? 1 : 0;  // an integer has lost its fraction
    if (holds && !(std::fabs(actual_value - expected_value) <= slack + cut)) {
      return "element " + std::to_string(i) + " is " + text_of(actual_value) + ", not " +
             text_of(expected_value);
    }
  }
  return "";
}

}  // namespace kernkit::testing::contract
