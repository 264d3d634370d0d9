// SPDX-License-Identifier: Apache-2.0
// Jacobi's iteration for Laplace's equation: a stencil of five points. An atomic adds up the
// changes of all points in a step.
#include <cmath>
#include <utility>
#include <vector>

#include "check.h"

constexpr int kSize = 34, kSteps = 50;

__global__ void step(float* next, const float* x, float* change) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y + 1,
            j = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i >= kSize - 1 || j >= kSize - 1) return;
  const int at = i * kSize + j;
  next[at] = 0.25f * (x[at - 1] + x[at + 1] + x[at - kSize] + x[at + kSize]);
  atomicAdd(change, fabsf(next[at] - x[at]));
}

int main() {
  std::vector<float> x(kSize * kSize), expected, actual(x.size());
  for (int j = 0; j < kSize; ++j) x[j] = 100;  // the upper edge
  expected = x;
  std::vector<float> following = x;
  for (int n = 0; n < kSteps; ++n, std::swap(expected, following)) {
    for (int i = 1; i < kSize - 1; ++i) {
      for (int j = 1; j < kSize - 1; ++j) {
        const float* at = &expected[i * kSize + j];
        following[i * kSize + j] = 0.25f * (at[-1] + at[1] + at[-kSize] + at[kSize]);
      }
    }
  }
  float *a, *b, *change, last = -1, first = -1;
  const size_t bytes = x.size() * sizeof(float);
  check(cudaMalloc(&a, bytes));
  check(cudaMalloc(&b, bytes));
  check(cudaMalloc(&change, sizeof(float)));
  check(cudaMemcpy(a, x.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
  for (int n = 0; n < kSteps; ++n, std::swap(a, b)) {
    check(cudaMemset(change, 0, sizeof(float)));
    step<<<dim3(2, 4), dim3(16, 8)>>>(b, a, change);
    check(cudaMemcpy(n == 0 ? &first : &last, change, sizeof(float), cudaMemcpyDeviceToHost));
  }
  check(cudaMemcpy(actual.data(), a, bytes, cudaMemcpyDeviceToHost));
  return verdict("jacobi", actual == expected && last > 0 && last < first);
}
