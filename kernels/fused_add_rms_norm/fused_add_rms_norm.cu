// SPDX-License-Identifier: Apache-2.0
#include "fused_add_rms_norm/fused_add_rms_norm.h"
#include "kernkit/cuda/rows.cuh"

namespace kernkit::kernels {

void fused_add_rms_norm_cuda(TensorView y, TensorView sum, TensorView x, TensorView residual,
                             const Optional<TensorView>& weight, double eps) {
  cuda::Launch launch(y, sum, x, residual);
  dispatch(FusedAddRmsNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::rows<T>(launch, y.size(0), y.size(1),
                  FusedAddRmsNorm<T>(y, sum, x, residual, weight, eps));
  });
}

}  // namespace kernkit::kernels
