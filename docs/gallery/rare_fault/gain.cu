// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cuda/launch.h"
#include "kernkit/expect.h"
#include "kernkit/export.h"

namespace {

using kernkit::TensorView;

__global__ void gain_kernel(int64_t n, float* y, const float* x, float factor) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

__global__ void gain4_kernel(int64_t n, float4* y, const float4* x, float factor) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  y[i] = {factor * v.x, factor * v.y, factor * v.z, factor * v.w};
}

// [launch]
void gain(TensorView y, TensorView x, double factor) {
  kernkit::Dim n("n");
  KERNKIT_EXPECT(x).dtype(kernkit::dl_float32).cuda().shape(n).contiguous();
  KERNKIT_EXPECT(y).same_dtype(x).same_device(x).shape(n).contiguous().no_overlap(x);
  if (n.value() == 0) return;
  kernkit::cuda::Launch launch(y, x);
  auto* out = y.data<float>();
  const auto* in = x.data<const float>();
  if (n.value() % 1024 == 0) {
    launch(gain4_kernel, {n.value() / 1024, 256}, n.value() / 4, reinterpret_cast<float4*>(out),
           reinterpret_cast<const float4*>(in), static_cast<float>(factor));
  } else {
    launch(gain_kernel, {(n.value() + 255) / 256, 256}, n.value(), out, in,
           static_cast<float>(factor));
  }
}
// [/launch]

}  // namespace

KERNKIT_EXPORT(gain, "(Tensor(a!) y, Tensor x, float factor) -> ()", "y = x * factor.", gain)
