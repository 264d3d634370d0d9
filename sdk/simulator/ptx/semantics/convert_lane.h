// SPDX-License-Identifier: Apache-2.0
// Conversion: a form of cvt between two types.
#pragma once

#include "ptx/machine/warp.h"
#include "ptx/parser/type.h"
#include "ptx/simd/real_formats.h"

namespace kernkit::simulator::ptx {

struct Conversion {
  Type to = Type::kNone, from = Type::kNone;
  Rounding rounding = Rounding::kNearest;
  bool to_integral = false;  // whether the form rounds to an integral value, such as .rni
  bool saturates = false, flushes = false;
  uint32_t to_size = 0, from_size = 0;  // sizes of the registers [bytes]
};

bool is_known(const Conversion& conversion);
/// Packs a conversion into Operation::offset.
int64_t pack(const Conversion& conversion);
void convert_lanes(Warp& warp, const Operation& operation);

/// Modifiers of conversions of float, in Operation::mode.
inline constexpr uint8_t kToZero = 1;  // .rz instead of .rn
inline constexpr uint8_t kRelu = 2;    // a negative number becomes +0
inline constexpr uint8_t kFinite = 4;  // .satfinite: clamps to the finite numbers of the format

// Conversions of float to .f16 or .bf16, and of two floats to a pair.
void narrow_to_f16(Warp& warp, const Operation& operation);
void narrow_to_bf16(Warp& warp, const Operation& operation);
void narrow_to_f16x2(Warp& warp, const Operation& operation);
void narrow_to_bf16x2(Warp& warp, const Operation& operation);

// Conversions of two 8-bit numbers: from two floats, from a pair of .f16, and to such a pair.
void narrow_to_e4m3x2(Warp& warp, const Operation& operation);
void narrow_to_e5m2x2(Warp& warp, const Operation& operation);
void narrow_pair_to_e4m3x2(Warp& warp, const Operation& operation);
void narrow_pair_to_e5m2x2(Warp& warp, const Operation& operation);
void widen_e4m3x2(Warp& warp, const Operation& operation);
void widen_e5m2x2(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
