// SPDX-License-Identifier: Apache-2.0
// Rows normalised by their mean and deviation. A block keeps its row in dynamic shared memory,
// which is larger than a kernel's default limit. The threads print only errors.
#include <cmath>
#include <vector>

#include "check.h"

__global__ void normalise(float* rows, int columns) {
  extern __shared__ float row[];
  float* partial = row + columns;
  float* input_row = rows + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i] = input_row[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  float mean = 0;
  for (int i = 0; i < blockDim.x; ++i) mean += partial[i];
  mean /= columns;
  __syncthreads();
  float squares = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    squares += (row[i] - mean) * (row[i] - mean);
  partial[threadIdx.x] = squares;
  __syncthreads();
  float variance = 0;
  for (int i = 0; i < blockDim.x; ++i) variance += partial[i];
  variance /= columns;
  if (!(variance > 0)) printf("row %d has no deviation\n", static_cast<int>(blockIdx.x));
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    input_row[i] = (row[i] - mean) * rsqrtf(variance);
}

int main() {
  const int count = 6, columns = 15000, threads = 64;
  std::vector<float> x(count * columns), y(count * columns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 97) * static_cast<float>(i / columns + 1);
  float* rows;
  check(cudaMalloc(&rows, x.size() * sizeof(float)));
  check(cudaMemcpy(rows, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  const int bytes = (columns + threads) * static_cast<int>(sizeof(float));
  normalise<<<count, threads, bytes>>>(rows, columns);
  // Before the limit is raised, the launch must fail.
  if (cudaGetLastError() == cudaSuccess) return verdict("dynamic_shared", false);
  check(cudaFuncSetAttribute(normalise, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  normalise<<<count, threads, bytes>>>(rows, columns);
  check(cudaGetLastError());
  check(cudaMemcpy(y.data(), rows, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
  bool passed = true;
  for (int row = 0; row < count; ++row) {
    double mean = 0, variance = 0;
    const float *in = &x[row * columns], *out = &y[row * columns];
    for (int i = 0; i < columns; ++i) mean += in[i] / columns;
    for (int i = 0; i < columns; ++i) variance += (in[i] - mean) * (in[i] - mean) / columns;
    for (int i = 0; i < columns; ++i) {
      passed = passed && std::abs(out[i] - (in[i] - mean) / std::sqrt(variance)) < 1e-3;
    }
  }
  check(cudaFree(rows));
  return verdict("dynamic_shared", passed);
}
