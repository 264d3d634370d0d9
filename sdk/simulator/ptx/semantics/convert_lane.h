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

/// Bits of Operation::mode: modifiers of conversions from one or two floats.
inline constexpr uint8_t kToZero = 1;  // .rz instead of .rn
inline constexpr uint8_t kRelu = 2;    // a negative number becomes +0
inline constexpr uint8_t kFinite = 4;  // .satfinite: clamps to the finite numbers of the format

// Convert a float to .f16 or .bf16, or two floats to a pair of .f16 or .bf16.
void narrow_to_f16(Warp& warp, const Operation& operation);
void narrow_to_bf16(Warp& warp, const Operation& operation);
void narrow_to_f16x2(Warp& warp, const Operation& operation);
void narrow_to_bf16x2(Warp& warp, const Operation& operation);

// Convert two floats or a pair of .f16 to two 8-bit numbers, and two 8-bit numbers to a pair of
// .f16.
void narrow_to_e4m3x2(Warp& warp, const Operation& operation);
void narrow_to_e5m2x2(Warp& warp, const Operation& operation);
void narrow_pair_to_e4m3x2(Warp& warp, const Operation& operation);
void narrow_pair_to_e5m2x2(Warp& warp, const Operation& operation);
void widen_e4m3x2(Warp& warp, const Operation& operation);
void widen_e5m2x2(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
