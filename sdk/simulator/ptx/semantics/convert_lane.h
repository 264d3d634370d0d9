// SPDX-License-Identifier: Apache-2.0
// Conversion: any form of cvt between two numbers.
#pragma once

#include "ptx/machine/warp.h"
#include "ptx/parser/type.h"
#include "ptx/simd/real_formats.h"

namespace kernkit::simulator::ptx {

struct Conversion {
  Type to = Type::kNone, from = Type::kNone;
  Rounding rounding = Rounding::kNearest;
  bool to_integral = false;  // .rni and the like
  bool saturates = false, flushes = false;
  uint32_t to_size = 0, from_size = 0;  // of the registers
};

bool is_known(const Conversion& conversion);
/// As an operation's offset.
int64_t pack(const Conversion& conversion);
void convert_lanes(Warp& warp, const Operation& operation);

// Two numbers of 8 bits.
void narrow_to_e4m3x2(Warp& warp, const Operation& operation);
void narrow_to_e5m2x2(Warp& warp, const Operation& operation);
void widen_e4m3x2(Warp& warp, const Operation& operation);
void widen_e5m2x2(Warp& warp, const Operation& operation);

}  // namespace kernkit::simulator::ptx
