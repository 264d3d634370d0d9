// SPDX-License-Identifier: Apache-2.0
// What the families of matrix.cc and wmma.cc share.
#pragma once

#include <vector>

#include "ptx/decode/decoder.h"
#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

/// All 32 lanes meet at it.
void begin_matrix(Decoder& d);
/// The registers of operand i, of 32 bits each; kNone for _ among those that it writes.
std::vector<uint32_t> registers_of(Decoder& d, size_t i, uint32_t count, bool writes);
/// The element type that the next modifier names. Throws if the modifier names none.
Element next_element(Decoder& d);
/// Decodes operands d, a, b, c. A and B have `of_a` and `of_b` registers, of which the product uses
/// the first.
Run multiply_matrices(Decoder& d, const Product& product, uint32_t of_a, uint32_t of_b);

}  // namespace kernkit::simulator::ptx
