// SPDX-License-Identifier: Apache-2.0
// CUB: keys sorted within a block, and a reduction over the device.
#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <numeric>
#include <vector>

#include "check.h"

constexpr int kThreads = 128, kItems = 4, kKeys = kThreads * kItems;

__global__ void sort(unsigned* keys) {
  using Sort = cub::BlockRadixSort<unsigned, kThreads, kItems>;
  __shared__ typename Sort::TempStorage storage;
  unsigned keys_of_thread[kItems];
  for (int i = 0; i < kItems; ++i) keys_of_thread[i] = keys[threadIdx.x * kItems + i];
  Sort(storage).Sort(keys_of_thread);
  for (int i = 0; i < kItems; ++i) keys[threadIdx.x * kItems + i] = keys_of_thread[i];
}

int main() {
  std::vector<unsigned> keys(kKeys), actual(kKeys);
  for (int i = 0; i < kKeys; ++i) keys[i] = 1664525u * i + 1013904223u;
  const unsigned expected_sum = std::accumulate(keys.begin(), keys.end(), 0u);
  unsigned *device, *device_sum, sum = 0;
  check(cudaMalloc(&device, kKeys * sizeof(unsigned)));
  check(cudaMalloc(&device_sum, sizeof(unsigned)));
  check(cudaMemcpy(device, keys.data(), kKeys * sizeof(unsigned), cudaMemcpyHostToDevice));
  void* storage = nullptr;
  size_t bytes = 0;
  check(cub::DeviceReduce::Sum(storage, bytes, device, device_sum, kKeys));
  check(cudaMalloc(&storage, bytes));
  check(cub::DeviceReduce::Sum(storage, bytes, device, device_sum, kKeys));
  sort<<<1, kThreads>>>(device);
  check(cudaMemcpy(&sum, device_sum, sizeof(unsigned), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(actual.data(), device, kKeys * sizeof(unsigned), cudaMemcpyDeviceToHost));
  std::sort(keys.begin(), keys.end());
  return verdict("block_sort", actual == keys && sum == expected_sum);
}
