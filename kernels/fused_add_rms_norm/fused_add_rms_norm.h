// SPDX-License-Identifier: Apache-2.0
// fused_add_rms_norm: sum = x + residual and y = rms_norm(sum), in one pass.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/optional.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using FusedAddRmsNormTypes = floating;

/// The arithmetic of the CPU and CUDA code: the sum is rounded to T, and the norm is computed from
/// the rounded sum.
template <class T>
struct FusedAddRmsNorm {
  using C = compute_t<T>;
  T *y, *sum;
  const T *x, *residual, *weight;  // weight is null if not given
  int64_t x_stride, residual_stride, d;
  C eps;

  /// Stores the addresses and sizes of the tensors. Requires that fused_add_rms_norm() has checked
  /// the tensors, and that their memory outlives the calls of operator(). Throws TypeError if T is
  /// not x's dtype, ValueError for a null address.
  FusedAddRmsNorm(TensorView y, TensorView sum, TensorView x, TensorView residual,
                  const Optional<TensorView>& weight, double eps)
      : y(y.data<T>()),
        sum(sum.data<T>()),
        x(x.data<const T>()),
        residual(residual.data<const T>()),
        weight(weight ? weight->data<const T>() : nullptr),
        x_stride(x.stride(0)),
        residual_stride(residual.stride(0)),
        d(x.size(1)),
        eps(static_cast<C>(eps)) {}

  /// Computes row r, counted from 0, of sum and y by the operations of `row`, a Row of d elements
  /// that cpu::rows() or cuda::rows() passes. In a kernel, all threads of the row must make the
  /// call.
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const auto total = row.map([](C v, C old) { return v + old; }, sum + r * d, x + r * x_stride,
                               residual + r * residual_stride);
    const C squares = row.sum([](C v) { return v * v; }, total);
    const C scale = math::rsqrt(squares / static_cast<C>(d) + eps);
    if (weight != nullptr) {
      row.map([scale](C v, C g) { return v * scale * g; }, y + r * d, total, weight);
    } else {
      row.map([scale](C v) { return v * scale; }, y + r * d, total);
    }
  }
};

/// sum = x + residual, then y[i, j] = sum[i, j] / sqrt(mean of the squares of row i of sum + eps) *
/// weight[j]. In a transformer, one layer adds x to the residual stream, and the next layer reads
/// the norm y.
///
/// x: [n, d], a dtype of FusedAddRmsNormTypes, any row stride, on the CPU or a CUDA device.
/// residual: like x. sum and y: like x, contiguous, without overlap with each other; sum or y may
/// be x or residual itself, but must not overlap x or residual otherwise. weight: [d], dtype and
/// device of x, contiguous, without overlap with sum and y; without a weight, each factor is 1. eps
/// is narrowed to float32 unless x is float64.
///
/// On the CPU, returns when the results are written; on a CUDA device, enqueues a kernel in the
/// caller's current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails,
/// or a CUDA tensor in a library without CUDA).
void fused_add_rms_norm(TensorView y, TensorView sum, TensorView x, TensorView residual,
                        const Optional<TensorView>& weight, double eps);

/// The CUDA implementation. Requires that fused_add_rms_norm() has checked the arguments and that
/// the tensors are not empty. Enqueues a kernel in the caller's current stream and does not wait.
/// Throws RuntimeError if CUDA fails. Defined in fused_add_rms_norm.cu.
void fused_add_rms_norm_cuda(TensorView y, TensorView sum, TensorView x, TensorView residual,
                             const Optional<TensorView>& weight, double eps);

}  // namespace kernkit::kernels
