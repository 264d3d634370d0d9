// SPDX-License-Identifier: Apache-2.0
// The op of leaky_relu.cc on CUDA.
#include "kernkit/cuda/elementwise.cuh"
#include "kernkit/expect.h"
#include "kernkit/export.h"

// [kernel]
struct LeakyRelu {
  float slope;
  __device__ float operator()(float v) const { return v > 0 ? v : slope * v; }
};

void leaky_relu(kernkit::TensorView y, kernkit::TensorView x, double slope) {
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().contiguous();
  KERNKIT_EXPECT(y).like(x).contiguous().no_partial_overlap(x);
  kernkit::cuda::Launch launch(y, x);
  kernkit::cuda::elementwise(launch, x.numel(), LeakyRelu{static_cast<float>(slope)},
                             y.data<float>(), x.data<const float>());
}
KERNKIT_EXPORT(leaky_relu, "(Tensor(a!) y, Tensor x, float slope=0.01) -> ()",
               "y = x where x > 0, slope * x elsewhere.", leaky_relu)
// [/kernel]
