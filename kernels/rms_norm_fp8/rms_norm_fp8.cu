// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/rows.cuh"
#include "rms_norm_fp8/rms_norm_fp8.h"

namespace kernkit::kernels {

void rms_norm_fp8_cuda(TensorView y, TensorView scale, TensorView x, TensorView weight,
                       double eps) {
  cuda::Launch launch(y, scale, x, weight);
  dispatch(RmsNormFp8Types{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::rows<T>(launch, y.size(0), y.size(1), RmsNormFp8<T>(y, scale, x, weight, eps));
  });
}

}  // namespace kernkit::kernels
