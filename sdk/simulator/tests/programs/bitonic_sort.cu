// SPDX-License-Identifier: Apache-2.0
// Sorts keys with their values by a bitonic network; near steps run in shared memory.
#include <algorithm>
#include <utility>
#include <vector>

#include "check.h"

constexpr int kBlock = 512;  // elements of a block, two for each thread

__device__ void order(unsigned& key, unsigned& value, unsigned& other_key, unsigned& other_value,
                      bool up) {
  if ((key > other_key) != up) return;
  const unsigned k = key, v = value;
  key = other_key;
  value = other_value;
  other_key = k;
  other_value = v;
}

__global__ void far_step(unsigned* keys, unsigned* values, unsigned length, unsigned distance) {
  const unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned i = 2 * pair - (pair & (distance - 1)), j = i + distance;
  order(keys[i], values[i], keys[j], values[j], (i & length) == 0);
}

// Runs the steps for all lengths from `length` to `last` whose distances are within a block.
__global__ void near_steps(unsigned* keys, unsigned* values, unsigned length, unsigned last) {
  __shared__ unsigned k[kBlock], v[kBlock];
  const unsigned first = blockIdx.x * kBlock, thread = threadIdx.x;
  for (unsigned i = thread; i < kBlock; i += blockDim.x) {
    k[i] = keys[first + i];
    v[i] = values[first + i];
  }
  for (; length <= last; length *= 2) {
    for (unsigned distance = min(length, kBlock) / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned i = 2 * thread - (thread & (distance - 1)), j = i + distance;
      order(k[i], v[i], k[j], v[j], ((first + i) & length) == 0);
    }
  }
  __syncthreads();
  for (unsigned i = thread; i < kBlock; i += blockDim.x) {
    keys[first + i] = k[i];
    values[first + i] = v[i];
  }
}

int main() {
  const unsigned n = 1 << 14;
  std::vector<unsigned> keys(n), values(n);
  std::vector<std::pair<unsigned, unsigned>> expected(n);
  for (unsigned i = 0; i < n; ++i) expected[i] = {keys[i] = i * 2654435761u, values[i] = i};
  std::sort(expected.begin(), expected.end());
  unsigned *device_keys, *device_values;
  check(cudaMalloc(&device_keys, n * sizeof(unsigned)));
  check(cudaMalloc(&device_values, n * sizeof(unsigned)));
  check(cudaMemcpy(device_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_values, values.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  near_steps<<<n / kBlock, kBlock / 2>>>(device_keys, device_values, 2, kBlock);
  for (unsigned length = 2 * kBlock; length <= n; length *= 2) {
    for (unsigned distance = length / 2; distance >= kBlock; distance /= 2) {
      far_step<<<n / kBlock, kBlock / 2>>>(device_keys, device_values, length, distance);
    }
    near_steps<<<n / kBlock, kBlock / 2>>>(device_keys, device_values, length, length);
  }
  check(cudaGetLastError());
  check(cudaMemcpy(keys.data(), device_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(values.data(), device_values, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  bool passed = true;
  for (unsigned i = 0; i < n; ++i) {
    passed = passed && keys[i] == expected[i].first && values[i] == expected[i].second;
  }
  check(cudaFree(device_keys));
  check(cudaFree(device_values));
  return verdict("bitonic_sort", passed);
}
