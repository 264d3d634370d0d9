// SPDX-License-Identifier: Apache-2.0
// Counts the steps until a point leaves the Mandelbrot set; the threads of a warp loop for
// different numbers of steps. The points are multiples of 2^-6, and the steps few, so each product
// and sum is exact in double precision.
#include <vector>

#include "check.h"

constexpr int kWidth = 96, kHeight = 64, kSteps = 6;

__host__ __device__ int steps_of(int column, int row) {
  const double a = (column - 72) / 64.0, b = (row - 32) / 64.0;
  double x = 0, y = 0;
  int n = 0;
  for (; n < kSteps && x * x + y * y <= 4; ++n) {
    const double next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
  }
  return n;
}

__global__ void mandelbrot(int* steps) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  steps[row * kWidth + column] = steps_of(column, row);
}

int main() {
  int* device;
  std::vector<int> actual(kWidth * kHeight), expected;
  check(cudaMallocManaged(&device, actual.size() * sizeof(int)));
  mandelbrot<<<dim3(kWidth / 32, kHeight / 4), dim3(32, 4)>>>(device);
  check(cudaDeviceSynchronize());
  actual.assign(device, device + actual.size());
  for (int row = 0; row < kHeight; ++row) {
    for (int column = 0; column < kWidth; ++column) expected.push_back(steps_of(column, row));
  }
  return verdict("mandelbrot", actual == expected);
}
