// SPDX-License-Identifier: Apache-2.0
// rms_norm: y = x / sqrt(mean(x^2) + eps) * weight, row by row.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/optional.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using RmsNormTypes = floating;

/// The arithmetic of the CPU and CUDA code: results are computed in compute_t<T> and rounded once.
template <class T>
struct RmsNorm {
  using C = compute_t<T>;
  T* y;
  const T *x, *weight;  // weight is null if not given
  int64_t stride, d;
  C eps;

  /// Stores the addresses and sizes of the tensors. Requires that rms_norm() has checked the
  /// tensors, and that their memory outlives the calls of operator(). Throws TypeError if T is not
  /// x's dtype, ValueError for a null address.
  RmsNorm(TensorView y, TensorView x, const Optional<TensorView>& weight, double eps)
      : y(y.data<T>()),
        x(x.data<const T>()),
        weight(weight ? weight->data<const T>() : nullptr),
        stride(x.stride(0)),
        d(x.size(1)),
        eps(static_cast<C>(eps)) {}

  /// Computes row r, counted from 0, of y by the operations of `row`, a Row of d elements that
  /// cpu::rows() or cuda::rows() passes. In a kernel, all threads of the row must make the call.
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const auto in = row.load(x + r * stride);
    const C squares = row.sum([](C v) { return v * v; }, in);
    const C scale = math::rsqrt(squares / static_cast<C>(d) + eps);
    if (weight != nullptr) {
      row.map([scale](C v, C g) { return v * scale * g; }, y + r * d, in, weight);
    } else {
      row.map([scale](C v) { return v * scale; }, y + r * d, in);
    }
  }
};

/// y[i, j] = x[i, j] / sqrt(mean of the squares of row i + eps) * weight[j]. Source: Zhang and
/// Sennrich, "Root Mean Square Layer Normalization", 2019.
///
/// x: [n, d], a dtype of RmsNormTypes, any row stride, on the CPU or a CUDA device. y: like x,
/// contiguous; y may be x itself, but must not overlap x otherwise. weight: [d], dtype and device
/// of x, contiguous, without overlap with y; without a weight, each factor is 1. eps is narrowed to
/// float32 unless x is float64.
///
/// On the CPU, returns when the results are written; on a CUDA device, enqueues a kernel in the
/// caller's current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails,
/// or a CUDA tensor in a library without CUDA).
void rms_norm(TensorView y, TensorView x, const Optional<TensorView>& weight, double eps);

/// The CUDA implementation. Requires that rms_norm() has checked the arguments and that the
/// tensors are not empty. Enqueues a kernel in the caller's current stream and does not wait.
/// Throws RuntimeError if CUDA fails. Defined in rms_norm.cu.
void rms_norm_cuda(TensorView y, TensorView x, const Optional<TensorView>& weight, double eps);

}  // namespace kernkit::kernels
