// SPDX-License-Identifier: Apache-2.0
// rms_norm_fp8: rms_norm in float8_e4m3fn, with a scale for each row.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/math.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using RmsNormFp8Types = types<float16, bfloat16, float>;

/// The largest finite float8_e4m3fn.
inline constexpr float kLargestFp8 = 448;
/// The smallest scale of a row. If the largest magnitude of a row of the norm is below 1 / 512, the
/// row's float8 results stay below kLargestFp8.
inline constexpr float kSmallestScale = 1 / (kLargestFp8 * 512);

/// The arithmetic of the CPU and CUDA code: results are computed in float32 and rounded once, to
/// float8.
template <class T>
struct RmsNormFp8 {
  float8_e4m3fn* y;
  float* scale;
  const T *x, *weight;
  int64_t stride, d;
  float eps;

  /// Stores the addresses and sizes of the tensors. Requires that rms_norm_fp8() has checked the
  /// tensors, and that their memory outlives the calls of operator(). Throws TypeError if T is not
  /// x's dtype, ValueError for a null address.
  RmsNormFp8(TensorView y, TensorView scale, TensorView x, TensorView weight, double eps)
      : y(y.data<float8_e4m3fn>()),
        scale(scale.data<float>()),
        x(x.data<const T>()),
        weight(weight.data<const T>()),
        stride(x.stride(0)),
        d(x.size(1)),
        eps(static_cast<float>(eps)) {}

  /// Computes row r, counted from 0, of y and scale by the operations of `row`, a Row of d elements
  /// that cpu::rows() or cuda::rows() passes. In a kernel, all threads of the row must make the
  /// call. Needs memory of d floats for each thread on the CPU.
  template <class Row>
  KERNKIT_DEVICE void operator()(const Row& row, int64_t r) const {
    const auto in = row.load(x + r * stride);
    const float squares = row.sum([](float v) { return v * v; }, in);
    const float k = math::rsqrt(squares / static_cast<float>(d) + eps);
    const auto norm = row.keep([k](float v, float g) { return v * k * g; }, in, weight);
    const float largest = row.max([](float v) { return v < 0 ? -v : v; }, norm);
    const float of_row = largest / kLargestFp8;
    const float used = of_row < kSmallestScale ? kSmallestScale : of_row;  // NaN stays
    row.map([used](float v) { return v / used; }, y + r * d, norm);
    row.put(scale + r, used);
  }
};

/// y[i, j] * scale[i] = rms_norm of x with weight and eps (see rms_norm()), except for the rounding
/// of y to float8: scale[i] is the largest magnitude of row i of the norm / 448, at least 1 / (448
/// * 512). If a row of x contains NaN or infinity, its scale and results are NaN.
///
/// x: [n, d], a dtype of RmsNormFp8Types, any row stride, on the CPU or a CUDA device. y: [n, d] of
/// float8_e4m3fn, scale: [n] of float32, weight: [d] of x's dtype, all contiguous, on x's device. y
/// and scale must not overlap any other argument. eps is narrowed to float32. For d = 0, scale is
/// not written.
///
/// On the CPU, returns when the results are written; on a CUDA device, enqueues a kernel in the
/// caller's current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked.
/// Throws TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails,
/// or a CUDA tensor in a library without CUDA), MemoryError (no CPU memory for a row).
void rms_norm_fp8(TensorView y, TensorView scale, TensorView x, TensorView weight, double eps);

/// The CUDA implementation. Requires that rms_norm_fp8() has checked the arguments and that the
/// tensors are not empty. Enqueues a kernel in the caller's current stream and does not wait.
/// Throws RuntimeError if CUDA fails. Defined in rms_norm_fp8.cu.
void rms_norm_fp8_cuda(TensorView y, TensorView scale, TensorView x, TensorView weight, double eps);

}  // namespace kernkit::kernels
