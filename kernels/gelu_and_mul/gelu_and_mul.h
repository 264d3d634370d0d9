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

  /// Stores the addresses and sizes of the tensors. Requires that gelu_and_mul() has checked the
  /// tensors, and that their memory outlives the calls of operator(). Throws TypeError if T is not
  /// x's dtype, ValueError for a null address.
  GeluAndMul(TensorView y, TensorView x)
      : y(y.data<T>()), x(x.data<const T>()), stride(x.stride(0)), d(y.size(1)) {}

  /// Computes row r, counted from 0, of y by the operations of `row`, a Row of d elements that
  /// cpu::rows() or cuda::rows() passes. In a kernel, all threads of the row must make the call. d
  /// is the number of columns of y.
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const T* const gate = x + r * stride;
    row.map([](float g, float v) { return math::gelu(g) * v; }, y + r * d, gate, gate + d);
  }
};

/// y[i, j] = gelu(x[i, j]) * x[i, d + j] with gelu(v) = v / 2 (1 + erf(v / sqrt(2))), computed by
/// math::gelu(), whose comment lists special values. Source: Shazeer, "GLU Variants Improve
/// Transformer", 2020.
///
/// x: [n, 2 * d], a dtype of GeluAndMulTypes, any row stride, on the CPU or a CUDA device. y: [n,
/// d], dtype and device of x, contiguous; y must not overlap x.
///
/// On the CPU, returns when the results are written; on a CUDA device, enqueues a kernel in the
/// caller's current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails,
/// or a CUDA tensor in a library without CUDA).
void gelu_and_mul(TensorView y, TensorView x);

/// The CUDA implementation. Requires that gelu_and_mul() has checked the arguments and that the
/// tensors are not empty. Enqueues a kernel in the caller's current stream and does not wait.
/// Throws RuntimeError if CUDA fails. Defined in gelu_and_mul.cu.
void gelu_and_mul_cuda(TensorView y, TensorView x);

}  // namespace kernkit::kernels
