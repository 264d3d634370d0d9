// SPDX-License-Identifier: Apache-2.0
// Copies that exceed every traffic limit.
#include "planted.h"

namespace kernkit::gpu {
namespace {

__global__ void scalar_loads(int64_t n, float4* y, const float* x) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t warp = i / 32 * 128, lane = i % 32;
  if (i < n / 4) {
    y[i] = {x[warp + lane], x[warp + lane + 32], x[warp + lane + 64], x[warp + lane + 96]};
  }
}
__global__ void stride(int64_t n, float4* y, const float4* x) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t rows = n / 8;  // x is read as a matrix with two columns of float4
  if (i < n / 4) y[i] = x[i % rows * 2 + i / rows];
}

unsigned blocks_of(int64_t n) { return static_cast<unsigned>((n / 4 + 255) / 256); }

}  // namespace

void copy_by_scalar_loads(int64_t n, float* y, const float* x) {
  scalar_loads<<<blocks_of(n), 256>>>(n, reinterpret_cast<float4*>(y), x);
}
void copy_by_columns(int64_t n, float* y, const float* x) {
  stride<<<blocks_of(n), 256>>>(n, reinterpret_cast<float4*>(y),
                                reinterpret_cast<const float4*>(x));
}

}  // namespace kernkit::gpu
