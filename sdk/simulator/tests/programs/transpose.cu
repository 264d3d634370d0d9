// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix by tiles in shared memory with a column of padding; rows are pitched.
#include <vector>

#include "check.h"

constexpr int kTile = 32, kRows = 8;

__global__ void transpose(float* y, size_t y_pitch, const float* x, size_t x_pitch, int rows,
                          int columns) {
  __shared__ float tile[kTile][kTile + 1];
  const int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (row + i < rows && column < columns) {
      tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * x_pitch + column];
    }
  }
  __syncthreads();
  const int to_column = blockIdx.y * kTile + threadIdx.x;
  const int to_row = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (to_row + i < columns && to_column < rows) {
      y[(to_row + i) * y_pitch + to_column] = tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

int main() {
  const int rows = 150, columns = 333;
  std::vector<float> x(rows * columns), y(rows * columns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  float *device_x, *device_y;
  size_t x_pitch, y_pitch;
  check(cudaMallocPitch(&device_x, &x_pitch, columns * sizeof(float), rows));
  check(cudaMallocPitch(&device_y, &y_pitch, rows * sizeof(float), columns));
  check(cudaMemcpy2D(device_x, x_pitch, x.data(), columns * sizeof(float), columns * sizeof(float),
                     rows, cudaMemcpyHostToDevice));
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose<<<grid, dim3(kTile, kRows)>>>(device_y, y_pitch / sizeof(float), device_x,
                                          x_pitch / sizeof(float), rows, columns);
  check(cudaGetLastError());
  check(cudaMemcpy2D(y.data(), rows * sizeof(float), device_y, y_pitch, rows * sizeof(float),
                     columns, cudaMemcpyDeviceToHost));
  bool passed = true;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      passed = passed && y[column * rows + row] == x[row * columns + column];
    }
  }
  check(cudaFree(device_x));
  check(cudaFree(device_y));
  return verdict("transpose", passed);
}
