// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B by tiles in shared memory, on a stream, timed by events.
#include <cmath>
#include <vector>

#include "check.h"

constexpr int kTile = 16;
__constant__ float alpha;

__global__ void multiply(float* c, const float* a, const float* b, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    const int ak = first + threadIdx.x, bk = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && ak < k ? a[row * k + ak] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = bk < k && column < n ? b[bk * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = alpha * sum;
}

int main() {
  const int m = 70, n = 50, k = 90;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 17) / 8 - 1;
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 11) / 4 - 1;
  float *device_a, *device_b, *device_c;
  check(cudaMalloc(&device_a, a.size() * sizeof(float)));
  check(cudaMalloc(&device_b, b.size() * sizeof(float)));
  check(cudaMalloc(&device_c, c.size() * sizeof(float)));
  cudaStream_t stream;
  cudaEvent_t start, stop;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  const float factor = 0.5f;
  check(cudaMemcpyToSymbolAsync(alpha, &factor, sizeof(factor), 0, cudaMemcpyHostToDevice, stream));
  check(cudaMemcpyAsync(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice,
                        stream));
  check(cudaMemcpyAsync(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice,
                        stream));
  check(cudaEventRecord(start, stream));
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  multiply<<<grid, dim3(kTile, kTile), 0, stream>>>(device_c, device_a, device_b, m, n, k);
  check(cudaGetLastError());
  check(cudaEventRecord(stop, stream));
  check(cudaMemcpyAsync(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost,
                        stream));
  check(cudaStreamSynchronize(stream));
  float milliseconds;
  check(cudaEventElapsedTime(&milliseconds, start, stop));
  bool passed = true;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += 0.5 * a[row * k + i] * b[i * n + column];
      passed = passed && std::abs(c[row * n + column] - sum) <= 1e-4;
    }
  }
  for (float* memory : {device_a, device_b, device_c}) check(cudaFree(memory));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  check(cudaStreamDestroy(stream));
  return verdict("matrix_multiply", passed);
}
