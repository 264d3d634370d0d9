// SPDX-License-Identifier: Apache-2.0
// The sums of tensor cores as devices compute them, for CudaRuntime::set_device_summation(). A
// device adds a group of products and the accumulator in fixed point: each term is truncated to a
// number of fraction bits below the largest exponent of the terms, and the sum is rounded once. The
// numbers of bits come from "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix
// Cores" (arXiv 2511.10909), whose authors compared the model with devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/simd/fragment_layout.h"

namespace kernkit::simulator::ptx {

/// Model of the sums of products that the tensor cores of a device compute.
struct TensorCoreSum {
  uint32_t group;     // number of products that are added at once; further groups follow in order
  int fraction_bits;  // fraction bits that a term keeps, relative to the largest exponent
  int result_bits;    // fraction bits of a result of kF32, which is truncated
};

/// Stores in *sum how the tensor cores of a device add products of elements of type `a`. Returns
/// false if there is no model: for products of 8-bit floats by mma, except on devices of compute
/// capability 8.9.
bool find_tensor_core_sum(int capability, Element a, bool is_warpgroup, TensorCoreSum* sum);

/// A number as significand * 2^(exponent - 23).
struct TensorCoreTerm {
  int32_t significand = 0;
  int exponent = 0;
};

/// Splits a finite value of type `element` into significand and exponent. The exponent of a
/// subnormal is the smallest exponent of a normal number of the type, and the exponent of zero is
/// -126.
TensorCoreTerm tensor_core_term(Element element, float value);

/// Row of A or column of B: `stride` is the distance between adjacent elements [elements].
struct TensorCoreFactor {
  Element element;
  const float* first;
  size_t stride;
};

/// Returns c plus the `k` products of elements of a and b. `of_c` and `of_d` are kF32 or kF16; the
/// result is a value of type `of_d`. A NaN result is the canonical NaN.
float add_products(const TensorCoreSum& sum, uint32_t k, const TensorCoreFactor& a,
                   const TensorCoreFactor& b, float c, Element of_c, Element of_d);

}  // namespace kernkit::simulator::ptx
