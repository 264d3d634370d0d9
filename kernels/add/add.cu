// SPDX-License-Identifier: Apache-2.0
#include "add/add.h"
#include "kernkit/cuda/elementwise.cuh"

namespace kernkit::kernels {

void add_cuda(TensorView z, TensorView x, TensorView y) {
  cuda::Launch launch(z, x, y);
  dispatch(AddTypes{}, x.dtype(), [&](auto tag) {
    using T = type_of<decltype(tag)>;
    cuda::elementwise(launch, x.numel(), Add<T>{}, z.data<T>(), x.data<const T>(),
                      y.data<const T>());
  });
}

}  // namespace kernkit::kernels
