// SPDX-License-Identifier: Apache-2.0
// Functions for the instructions in matrix.cc and wmma.cc.
#pragma once

#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

/// Makes the operation synchronise all 32 lanes.
void begin_matrix(Decoder& d);
/// Returns the registers of operand i, of 64 bits for kF64 and of 32 bits for other elements; kNone
/// for _ if the operation writes them.
std::vector<uint32_t> registers_of(Decoder& d, size_t i, uint32_t count, bool writes,
                                   Element element = Element::kNone);
/// Returns the element type of the next modifier. Throws for another modifier.
Element next_element(Decoder& d);
/// Returns Product::rounding of a modifier such as .rz; the default is .rn.
uint8_t rounding_of(Decoder& d);
/// Reads the modifiers .xor.popc or .and.popc.
void take_bit_product(Decoder& d, Product* product);
/// Decodes operands d, a, b, c. A and B have `of_a` and `of_b` registers; the product uses the
/// first of them.
Run multiply_matrices(Decoder& d, const Product& product, uint32_t of_a, uint32_t of_b);

}  // namespace kernkit::simulator::ptx
