// SPDX-License-Identifier: Apache-2.0
#include "gelu_and_mul/gelu_and_mul.h"
#include "kernkit/cuda/rows.cuh"

namespace kernkit::kernels {

void gelu_and_mul_cuda(TensorView y, TensorView x) {
  cuda::Launch launch(y, x);
  dispatch(GeluAndMulTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::rows<T>(launch, y.size(0), y.size(1), GeluAndMul<T>(y, x));
  });
}

}  // namespace kernkit::kernels
