// SPDX-License-Identifier: Apache-2.0
// Reductions of cp.reduce.async.bulk and red.async: each element of the destination becomes the
// result of the operation on this element and an element of the source.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/parser/type.h"

namespace kernkit::simulator::ptx {

/// A copy without a reduction.
inline constexpr uint8_t kNoReduction = 0;

/// Returns the reduction with a name, such as "add", for elements of a type; kNoReduction if the
/// form does not exist. `type` is kNone if a tensor map determines the type.
uint8_t reduction_named(std::string_view name, Type type);
/// Returns `reduction` with the element type `type_of_map` of a tensor map, a value of
/// CUtensorMapDataType; kNoReduction if `reduction` is kNoReduction or does not exist for the type.
uint8_t reduction_of(uint8_t reduction, uint8_t type_of_map);
/// Copies `bytes` bytes for kNoReduction; otherwise reduces the elements of `from` into the
/// elements of `to`.
void reduce(uint8_t reduction, unsigned char* to, const unsigned char* from, uint32_t bytes);

}  // namespace kernkit::simulator::ptx
