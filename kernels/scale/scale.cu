// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/elementwise.cuh"
#include "scale/scale.h"

namespace kernkit::kernels {

// [cuda]
void scale_cuda(TensorView y, TensorView x, double factor) {
  cuda::Launch launch(y, x);
  dispatch(ScaleTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    const Scale<T> op{static_cast<compute_t<T>>(factor)};
    cuda::elementwise(launch, x.numel(), op, y.data<T>(), x.data<const T>());
  });
}
// [/cuda]

}  // namespace kernkit::kernels
