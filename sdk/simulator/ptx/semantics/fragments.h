// SPDX-License-Identifier: Apache-2.0
// Functions for the instructions in matrix.cc and wmma.cc.
#pragma once

#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

/// Requires .sync.aligned, and makes the operation wait for all 32 lanes.
void begin_matrix(Decoder& d);
/// Returns the `count` registers of operand i, which have 64 bits for kF64 and 32 bits for other
/// elements. If `writes` is set, the operand can contain _, for which the returned list contains
/// kNone.
std::vector<uint32_t> registers_of(Decoder& d, size_t i, uint32_t count, bool writes,
                                   Element element = Element::kNone);
/// Returns the element type of the next modifier. Throws for another modifier.
Element next_element(Decoder& d);
/// Returns the value of Product::rounding for a modifier such as .rz; the default is .rn.
uint8_t rounding_of(Decoder& d);
/// Requires .xor.popc or .and.popc, and sets `bit_product` of the product.
void take_bit_product(Decoder& d, Product* product);
/// Decodes operands d, a, b, c. The operands a and b have `of_a` and `of_b` registers. A product
/// that needs fewer registers uses the first registers of the operand.
Run multiply_matrices(Decoder& d, const Product& product, uint32_t of_a, uint32_t of_b);

}  // namespace kernkit::simulator::ptx
