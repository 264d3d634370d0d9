// SPDX-License-Identifier: Apache-2.0
// The product of a sparse matrix in compressed rows and a vector: a warp for each row, reduced by
// shuffles.
#include <vector>

#include "check.h"

__global__ void product(int rows, const int* starts, const int* columns, const double* values,
                        const double* x, double* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (lane == 0) y[row] = sum;
}

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  check(cudaMalloc(&device, host.size() * sizeof(T)));
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

int main() {
  const int rows = 203, size = 500;
  std::vector<int> starts = {0}, columns;
  std::vector<double> values, x(size), expected(rows), actual(rows);
  for (int i = 0; i < size; ++i) x[i] = i % 17 - 8;  // small integers, so that every sum is exact
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < row * 7 % 90; ++i) {
      columns.push_back((row * 31 + i * i) % size);
      values.push_back(i % 5 - 2);
      expected[row] += values.back() * x[columns.back()];
    }
    starts.push_back(static_cast<int>(columns.size()));
  }
  double* y;
  check(cudaMalloc(&y, rows * sizeof(double)));
  product<<<(rows + 3) / 4, 128>>>(rows, on_device(starts), on_device(columns), on_device(values),
                                   on_device(x), y);
  check(cudaGetLastError());
  check(cudaMemcpy(actual.data(), y, rows * sizeof(double), cudaMemcpyDeviceToHost));
  return verdict("sparse_product", actual == expected);
}
