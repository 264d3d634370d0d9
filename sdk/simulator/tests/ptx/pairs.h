// SPDX-License-Identifier: Apache-2.0
// Rows: what instructions of two sources of 16 bits give for all pairs, 2^32 for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernkit::simulator {

constexpr size_t kRow = 65536;

/// Writes what an instruction gives for every value of its first source with one of the second; a
/// predicate as 0 or 1.
using Row = void (*)(uint16_t second, uint32_t* results);

/// Of an instruction as Instruction::check() gets it, "add.f16 %d, %a, %b"; of two numbers in each
/// register, those of one. Null where there is none.
Row row_of(const std::string& instruction);

/// Puts results of 16 bits above others.
void put_above(const uint32_t* upper, uint32_t* results);

/// Where the first of results of 2 or 4 bytes is that is not what is expected; kRow: none.
size_t first_other(const unsigned char* results, size_t bytes, const uint32_t* expected);

}  // namespace kernkit::simulator
