// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/rows.cuh"
#include "layer_norm/layer_norm.h"

namespace kernkit::kernels {

void layer_norm_cuda(TensorView y, TensorView x, const Optional<TensorView>& weight,
                     const Optional<TensorView>& bias, double eps) {
  cuda::Launch launch(y, x);
  dispatch(LayerNormTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::rows<T>(launch, y.size(0), y.size(1), LayerNorm<T>(y, x, weight, bias, eps));
  });
}

}  // namespace kernkit::kernels
