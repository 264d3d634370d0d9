// SPDX-License-Identifier: Apache-2.0
// softmax: y = exp(x) / sum(exp(x)), row by row.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using SoftmaxTypes = floating;

/// The arithmetic of the CPU and CUDA code: results are computed in compute_t<T> and rounded once.
/// The largest element of a row is subtracted first, so that no exp overflows.
template <class T>
struct Softmax {
  using C = compute_t<T>;
  T* y;
  const T* x;
  int64_t stride, d;

  /// Stores the addresses and sizes of the tensors. Requires that softmax() has checked the
  /// tensors, and that their memory outlives the calls of operator(). Throws TypeError if T is not
  /// x's dtype, ValueError for a null address.
  Softmax(TensorView y, TensorView x)
      : y(y.data<T>()), x(x.data<const T>()), stride(x.stride(0)), d(x.size(1)) {}

  // [body]
  /// Computes row r, counted from 0, of y by the operations of `row`, a Row of d elements that
  /// cpu::rows() or cuda::rows() passes. In a kernel, all threads of the row must make the call.
  /// Needs memory of d elements of C for each thread on the CPU.
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const auto in = row.load(x + r * stride);
    const C largest = row.max([](C v) { return v; }, in);
    const auto parts = row.keep([largest](C v) { return math::exp_of_negative(v - largest); }, in);
    const C scale = 1 / row.sum([](C v) { return v; }, parts);
    row.map([scale](C v) { return v * scale; }, y + r * d, parts);
  }
  // [/body]
};

/// y[i, j] = exp(x[i, j]) / sum of exp of row i. If a row of x contains NaN or infinity, or only
/// -infinity, the NaNs of y are at the same indices as in PyTorch's result.
///
/// x: [n, d], a dtype of SoftmaxTypes, any row stride, on the CPU or a CUDA device. y: like x,
/// contiguous; y may be x itself, but must not overlap x otherwise.
///
/// On the CPU, returns when the results are written; on a CUDA device, enqueues a kernel in the
/// caller's current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails,
/// or a CUDA tensor in a library without CUDA), MemoryError (no CPU memory for a row).
void softmax(TensorView y, TensorView x);

/// The CUDA implementation. Requires that softmax() has checked the arguments and that the tensors
/// are not empty. Enqueues a kernel in the caller's current stream and does not wait. Throws
/// RuntimeError if CUDA fails. Defined in softmax.cu.
void softmax_cuda(TensorView y, TensorView x);

}  // namespace kernkit::kernels
