// SPDX-License-Identifier: Apache-2.0
// The results that a GPU may return where PTX ISA allows more than one result: a NaN with any bits,
// and any approximation within a bound. The simulator always returns the bits of the reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "float_formats.h"

namespace kernkit::simulator {

/// The maximum error of an approximation for sources that are 0 or have a magnitude in [least,
/// most]. For other sources every result is allowed.
struct Bound {
  double relative = 0, absolute = 0;
  double least = 0, most = std::numeric_limits<double>::infinity();
};

inline bool is_pair(const std::string& type) {
  return type.size() > 2 && type.substr(type.size() - 2) == "x2";
}

/// Returns the value of a float with these bits. `type` is the float's type in PTX.
inline double value_of(const std::string& type, uint64_t bits) {
  if (type == "f16") return decoded(bits & 0xffff, 5, 10);
  if (type == "bf16") return decoded(bits & 0xffff, 8, 7);
  if (type == "f32") bits = static_cast<uint32_t>(bits);
  double value = 0;
  float narrow = 0;
  std::memcpy(&value, &bits, sizeof(value));
  std::memcpy(&narrow, &bits, sizeof(narrow));
  return type == "f32" ? double{narrow} : value;
}

inline bool is_allowed(const std::string& type, uint64_t got, uint64_t expected,
                       const Bound& bound = {}) {
  if (got == expected) return true;
  if (is_pair(type)) {
    const std::string half = type.substr(0, type.size() - 2);
    return is_allowed(half, got & 0xffff, expected & 0xffff, bound) &&
           is_allowed(half, got >> 16, expected >> 16, bound);
  }
  if (type[0] != 'f' && type != "bf16") return false;
  const double x = value_of(type, got), exact = value_of(type, expected);
  if (exact != exact) return x != x;
  return std::fabs(x - exact) <= bound.absolute + bound.relative * std::fabs(exact);
}

/// Returns whether the bound applies to a source.
inline bool covers(const Bound& bound, const std::string& type, uint64_t source) {
  const double magnitude = std::fabs(value_of(type, source));
  return magnitude == 0 || !(magnitude < bound.least || magnitude > bound.most);
}

}  // namespace kernkit::simulator
