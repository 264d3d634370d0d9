// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/rows.cuh"
#include "rms_norm/rms_norm.h"

namespace kernkit::kernels {

void rms_norm_cuda(TensorView y, TensorView x, const Optional<TensorView>& weight, double eps) {
  cuda::Launch launch(y, x);
  dispatch(RmsNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::rows<T>(launch, y.size(0), y.size(1), RmsNorm<T>(y, x, weight, eps));
  });
}

}  // namespace kernkit::kernels
