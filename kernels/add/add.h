// SPDX-License-Identifier: Apache-2.0
// add: z = x + y.
#pragma once

#include "kernkit/dispatch.h"
#include "kernkit/tensor.h"

namespace kernkit::kernels {

using AddTypes = all_numeric;

/// The arithmetic of CPU and GPU: float16 and bfloat16 are added in float32 and rounded
/// once, to nearest even; integers wrap modulo 2^bits, as in NumPy and PyTorch.
template <class T>
struct Add {
  static constexpr bool kWaitsForMemory = true;
  using Compute = compute_t<T>;
  /// Returns x + y in the compute type, not yet rounded to T. Throws nothing.
  KERNKIT_HOST_DEVICE Compute operator()(Compute x, Compute y) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(x) + static_cast<Unsigned>(y));
    } else {
      return x + y;
    }
  }
};

/// z = x + y, elementwise.
///
/// x: a dtype of AddTypes, any shape, contiguous, on the CPU or a CUDA device. y and z: like x. z
/// may be x or y itself, but must not overlap x or y otherwise; x and y may overlap. On the CPU,
/// returns when the results are written; on a CUDA device, enqueues a kernel in the caller's
/// current stream (get_cuda_stream()) and does not wait. Empty tensors are only checked. Throws
/// TypeError (dtype), ValueError (shape, device, layout, overlap), RuntimeError (CUDA fails, or a
/// CUDA tensor in a library without CUDA).
void add(TensorView z, TensorView x, TensorView y);

/// The CUDA implementation. Requires that add() has checked the arguments and that the tensors are
/// not empty. Enqueues a kernel in the caller's current stream and does not wait. Throws
/// RuntimeError if CUDA fails. Defined in add.cu.
void add_cuda(TensorView z, TensorView x, TensorView y);

}  // namespace kernkit::kernels
