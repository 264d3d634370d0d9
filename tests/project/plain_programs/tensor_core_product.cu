// SPDX-License-Identifier: Apache-2.0
// A product of matrices of float16 by tensor cores (nvcuda::wmma), with a warp for each tile of 16
// x 16.
#include <cuda_fp16.h>
#include <mma.h>

#include <vector>

#include "check.h"

constexpr int kSize = 64;

__global__ void product(float* c, const half* a, const half* b) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> part_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> part_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < kSize; k += 16) {
    wmma::load_matrix_sync(part_a, a + row * kSize + k, kSize);
    wmma::load_matrix_sync(part_b, b + column * kSize + k, kSize);
    wmma::mma_sync(sum, part_a, part_b, sum);
  }
  wmma::store_matrix_sync(c + row * kSize + column, sum, kSize, wmma::mem_row_major);
}

int main() {
  const int n = kSize * kSize;
  std::vector<half> a(n), b(n);
  std::vector<float> actual(n), expected(n);
  for (int i = 0; i < n; ++i) {
    a[i] = __float2half(i % 7 - 3);
    b[i] = __float2half(i % 5 - 2);
  }
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      for (int k = 0; k < kSize; ++k)
        expected[i * kSize + j] += __half2float(a[i * kSize + k]) * __half2float(b[j * kSize + k]);
    }
  }
  half *device_a, *device_b;
  float* c;
  check(cudaMalloc(&device_a, n * sizeof(half)));
  check(cudaMalloc(&device_b, n * sizeof(half)));
  check(cudaMalloc(&c, n * sizeof(float)));
  check(cudaMemcpy(device_a, a.data(), n * sizeof(half), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_b, b.data(), n * sizeof(half), cudaMemcpyHostToDevice));
  product<<<dim3(kSize / 16, kSize / 16), 32>>>(c, device_a, device_b);
  check(cudaGetLastError());
  check(cudaMemcpy(actual.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost));
  return verdict("tensor_core_product", actual == expected);
}
