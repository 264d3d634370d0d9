// SPDX-License-Identifier: Apache-2.0
// silu_and_mul: y = silu(left half of x) * right half of x, the gate of a SwiGLU layer.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/tensor.h"

namespace template_library {

using SiluAndMulTypes = kernkit::floating;

/// The arithmetic: silu(gate) * up with silu(v) = v / (1 + exp(-v)), in the compute type of T:
/// float16 and bfloat16 are computed in float32 and rounded once, to nearest even. A silu whose
/// magnitude is below the smallest number of the compute type is -0; silu(-inf) is NaN, as in
/// PyTorch and JAX.
template <class T>
struct SiluAndMul {
  using Compute = kernkit::compute_t<T>;
  KERNKIT_HOST_DEVICE Compute operator()(Compute gate, Compute up) const {
    return kernkit::math::silu(gate) * up;
  }
};

/// y[i, j] = silu(x[i, j]) * x[i, d + j] for x [n, 2 * d] and y [n, d].
///
//@ if cuda
/// x: a dtype of SiluAndMulTypes, contiguous, on the CPU or a CUDA device. y: dtype and device of
/// x, contiguous; it may not overlap x.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA).
//@ else
//: /// x: a dtype of SiluAndMulTypes, contiguous, on the CPU. y: dtype of x, contiguous; it may not
//: /// overlap x.
//: /// Throws TypeError (dtype), ValueError (shape, device, layout, overlap).
//@ end
void silu_and_mul(kernkit::TensorView y, kernkit::TensorView x);

//@ if cuda
/// The CUDA implementation, which requires checked arguments that are not empty. Defined in
/// silu_and_mul.cu.
void silu_and_mul_cuda(kernkit::TensorView y, kernkit::TensorView x);

//@ end
}  // namespace template_library
