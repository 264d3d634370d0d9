// SPDX-License-Identifier: Apache-2.0
// scale: y = x * factor.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

// [declaration]
using ScaleTypes = floating;

/// The arithmetic of CPU and GPU: float16 and bfloat16 are multiplied in float32 and
/// rounded once, to nearest even.
// [functor]
template <class T>
struct Scale {
  static constexpr bool kWaitsForMemory = true;
  compute_t<T> factor;
  /// Returns x * factor in the compute type, not yet rounded to T. Throws nothing.
  KERNKIT_HOST_DEVICE compute_t<T> operator()(compute_t<T> x) const { return x * factor; }
};
// [/functor]

/// y = x * factor, elementwise. `factor` is narrowed to float32 unless x is float64.
///
/// x: a dtype of ScaleTypes, any shape, contiguous, on the CPU or a CUDA device. y: like x; y may
/// be x itself, but must not overlap x otherwise. On the CPU, returns when the results are written;
/// on a CUDA device, enqueues a kernel in the caller's current stream (get_cuda_stream()) and does
/// not wait. Empty tensors are only checked. Throws TypeError (dtype), ValueError (shape, device,
/// layout, overlap), RuntimeError (CUDA fails, or a CUDA tensor in a library without CUDA).
void scale(TensorView y, TensorView x, double factor);

/// The CUDA implementation. Requires that scale() has checked the arguments and that the tensors
/// are not empty. Enqueues a kernel in the caller's current stream and does not wait. Throws
/// RuntimeError if CUDA fails. Defined in scale.cu.
void scale_cuda(TensorView y, TensorView x, double factor);
// [/declaration]

}  // namespace kernkit::kernels
