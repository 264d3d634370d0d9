// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/rows.cuh"
#include "softmax/softmax.h"

namespace kernkit::kernels {

void softmax_cuda(TensorView y, TensorView x) {
  cuda::Launch launch(y, x);
  dispatch(SoftmaxTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::rows<T>(launch, y.size(0), y.size(1), Softmax<T>(y, x));
  });
}

}  // namespace kernkit::kernels
