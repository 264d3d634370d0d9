// SPDX-License-Identifier: Apache-2.0
// layer_norm: y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/optional.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using LayerNormTypes = floating;

/// The arithmetic of the CPU and CUDA code: results are computed in compute_t<T> and rounded once.
/// The variance is computed from the differences from the mean, so a large mean costs no digits.
template <class T>
struct LayerNorm {
  using C = compute_t<T>;
  T* y;
  const T *x, *weight, *bias;  // weight and bias are null if not given
  int64_t stride, d;
  C eps;

  /// Stores the addresses and sizes of the tensors. Requires that layer_norm() has checked the
  /// tensors, and that their memory outlives the calls of operator(). Throws TypeError if T is not
  /// x's dtype, ValueError for a null address.
  LayerNorm(TensorView y, TensorView x, const Optional<TensorView>& weight,
            const Optional<TensorView>& bias, double eps)
      : y(y.data<T>()),
        x(x.data<const T>()),
        weight(weight ? weight->data<const T>() : nullptr),
        bias(bias ? bias->data<const T>() : nullptr),
        stride(x.stride(0)),
        d(x.size(1)),
        eps(static_cast<C>(eps)) {}

  /// Computes row r, counted from 0, of y by the operations of `row`, a Row of d elements that
  /// cpu::rows() or cuda::rows() passes. In a kernel, all threads of the row must make the call.
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const auto in = row.load(x + r * stride);
    const C mean = row.sum([](C v) { return v; }, in) / static_cast<C>(d);
    const C squares = row.sum([mean](C v) { return (v - mean) * (v - mean); }, in);
    const C k = math::rsqrt(squares / static_cast<C>(d) + eps);
    T* const out = y + r * d;
    if (bias != nullptr) {
      row.map([=](C v, C g, C b) { return (v - mean) * k * g + b; }, out, in, weight, bias);
    } else if (weight != nullptr) {
      row.map([=](C v, C g) { return (v - mean) * k * g; }, out, in, weight);
    } else {
      row.map([=](C v) { return (v - mean) * k; }, out, in);
    }
  }
};

/// y[i, j] = (x[i, j] - mean of row i) / sqrt(variance of row i + eps) * weight[j] + bias[j], where
/// the variance is the mean of the d squared differences. Source: Ba, Kiros and Hinton, "Layer
/// Normalization", 2016.
///
/// x: [n, d], a dtype of LayerNormTypes, any row stride, on the CPU or a CUDA device. y: like x,
/// contiguous; y may be x itself, but must not overlap x otherwise. weight, bias: [d], dtype and
/// device of x, contiguous, without overlap with y; without a weight, each factor is 1, and without
/// a bias, each term is 0. A bias without a weight raises ValueError. eps is narrowed to float32
/// unless x is float64.
///
/// On the CPU, returns when the results are written; on a CUDA device, enqueues a kernel in the
/// caller's current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails,
/// or a CUDA tensor in a library without CUDA).
void layer_norm(TensorView y, TensorView x, const Optional<TensorView>& weight,
                const Optional<TensorView>& bias, double eps);

/// The CUDA implementation. Requires that layer_norm() has checked the arguments and that the
/// tensors are not empty. Enqueues a kernel in the caller's current stream and does not wait.
/// Throws RuntimeError if CUDA fails. Defined in layer_norm.cu.
void layer_norm_cuda(TensorView y, TensorView x, const Optional<TensorView>& weight,
                     const Optional<TensorView>& bias, double eps);

}  // namespace kernkit::kernels
