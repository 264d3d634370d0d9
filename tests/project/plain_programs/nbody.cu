// SPDX-License-Identifier: Apache-2.0
// Forces between bodies, with tiles of positions in shared memory.
#include <cmath>
#include <vector>

#include "check.h"

constexpr int kBodies = 256, kTile = 64;

__host__ __device__ float3 add_force(float3 sum, float4 a, float4 b) {
  const float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
  const float squared = x * x + y * y + z * z + 0.01f;
  const float scale = b.w / (squared * sqrtf(squared));
  return {sum.x + x * scale, sum.y + y * scale, sum.z + z * scale};
}

__global__ void forces(const float4* bodies, float3* result) {
  __shared__ float4 tile[kTile];
  const int i = blockIdx.x * kTile + threadIdx.x;
  float3 sum = {0, 0, 0};
  for (int start = 0; start < kBodies; start += kTile) {
    tile[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum = add_force(sum, bodies[i], tile[j]);
    __syncthreads();
  }
  result[i] = sum;
}

int main() {
  std::vector<float4> bodies(kBodies);
  for (int i = 0; i < kBodies; ++i) {
    bodies[i] = {std::sin(1.0f * i), std::cos(3.0f * i), std::sin(7.0f * i), 1.0f + i % 3};
  }
  float4* device_bodies;
  float3* device_forces;
  check(cudaMalloc(&device_bodies, kBodies * sizeof(float4)));
  check(cudaMalloc(&device_forces, kBodies * sizeof(float3)));
  check(cudaMemcpy(device_bodies, bodies.data(), kBodies * sizeof(float4), cudaMemcpyHostToDevice));
  forces<<<kBodies / kTile, kTile>>>(device_bodies, device_forces);
  std::vector<float3> actual(kBodies);
  check(cudaMemcpy(actual.data(), device_forces, kBodies * sizeof(float3), cudaMemcpyDeviceToHost));
  bool passed = true;
  for (int i = 0; i < kBodies; ++i) {
    float3 sum = {0, 0, 0};
    for (const float4& body : bodies) sum = add_force(sum, bodies[i], body);
    const float size = std::abs(sum.x) + std::abs(sum.y) + std::abs(sum.z);
    const float error = std::abs(sum.x - actual[i].x) + std::abs(sum.y - actual[i].y) +
                        std::abs(sum.z - actual[i].z);
    passed &= error <= 1e-4f * size;
  }
  return verdict("nbody", passed);
}
