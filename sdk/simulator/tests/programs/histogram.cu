// SPDX-License-Identifier: Apache-2.0
// Counts of byte values: a histogram of each warp in shared memory, added up by atomics.
#include <vector>

#include "check.h"

constexpr int kBins = 256, kWarps = 6;

__global__ void histogram(unsigned* counts, const uchar4* x, int n) {
  __shared__ unsigned of_warp[kWarps][kBins];
  for (int i = threadIdx.x; i < kWarps * kBins; i += blockDim.x) (&of_warp[0][0])[i] = 0;
  __syncthreads();
  unsigned* warp_counts = of_warp[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 four = x[i];
    atomicAdd(&warp_counts[four.x], 1);
    atomicAdd(&warp_counts[four.y], 1);
    atomicAdd(&warp_counts[four.z], 1);
    atomicAdd(&warp_counts[four.w], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    unsigned sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += of_warp[warp][bin];
    atomicAdd(&counts[bin], sum);
  }
}

int main() {
  const int n = 40000;
  std::vector<unsigned char> x(4 * n);
  std::vector<unsigned> counts(kBins), expected(kBins);
  unsigned random = 1;
  for (unsigned char& value : x) {
    random = random * 1664525 + 1013904223;
    ++expected[value = static_cast<unsigned char>(random >> 24 & random >> 16)];
  }
  uchar4* device_x;
  unsigned* device_counts;
  check(cudaMalloc(&device_x, x.size()));
  check(cudaMalloc(&device_counts, kBins * sizeof(unsigned)));
  check(cudaMemset(device_counts, 0, kBins * sizeof(unsigned)));
  check(cudaMemcpy(device_x, x.data(), x.size(), cudaMemcpyHostToDevice));
  histogram<<<20, 32 * kWarps>>>(device_counts, device_x, n);
  check(cudaGetLastError());
  check(cudaMemcpy(counts.data(), device_counts, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  check(cudaFree(device_x));
  check(cudaFree(device_counts));
  return verdict("histogram", counts == expected);
}
