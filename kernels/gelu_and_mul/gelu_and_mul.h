// SPDX-License-Identifier: Apache-2.0
// gelu_and_mul: y = gelu(left half of x) * right half of x, the gate of a GEGLU layer.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using GeluAndMulTypes = types<float16, bfloat16, float>;

/// The arithmetic of the CPU and CUDA code: results are computed in float32 and rounded once.
template <class T>
struct GeluAndMul {
  T* y;
  const T* x;
  int64_t stride, d;

  GeluAndMul(TensorView y, TensorView x)
      : y(y.data<T>()), x(x.data<const T>()), stride(x.stride(0)), d(y.size(1)) {}

  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const T* const gate = x + r * stride;
    row.map([](float g, float v) { return math::gelu(g) * v; }, y + r * d, gate, gate + d);
  }
};

/// y[i, j] = gelu(x[i, j]) * x[i, d + j] with gelu(v) = v / 2 (1 + erf(v / sqrt(2))).
///
/// x: [n, 2 * d], a dtype of GeluAndMulTypes, rows any distance apart, on the CPU or a CUDA device.
/// y: [n, d], dtype and device of x, contiguous; it may not overlap x.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA).
void gelu_and_mul(TensorView y, TensorView x);

/// The CUDA implementation, which requires checked arguments that are not empty. Defined in
/// gelu_and_mul.cu.
void gelu_and_mul_cuda(TensorView y, TensorView x);

}  // namespace kernkit::kernels
