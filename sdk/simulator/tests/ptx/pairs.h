// SPDX-License-Identifier: Apache-2.0
// Rows: the expected results of instructions with two 16-bit sources for all 2^32 pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernkit::simulator {

constexpr size_t kRow = 65536;

/// Function that writes the kRow results of an instruction: for every 16-bit value of the first
/// source and the value `second` of the second source. A predicate is written as 0 or 1.
using Row = void (*)(uint16_t second, uint32_t* results);

/// Returns the row of an instruction such as "add.f16 %d, %a, %b"; for an instruction on pairs of
/// numbers, the row for one number. Returns null if the instruction has no row.
Row row_of(const std::string& instruction);

/// Copies kRow 16-bit results `upper` into the upper halves of `results`.
void put_above(const uint32_t* upper, uint32_t* results);

/// Returns the index of the first result that differs from the expected result; kRow if all results
/// are equal. `bytes` is the size of a result, 2 or 4.
size_t first_other(const unsigned char* results, size_t bytes, const uint32_t* expected);

}  // namespace kernkit::simulator
