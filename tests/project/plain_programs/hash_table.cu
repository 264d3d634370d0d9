// SPDX-License-Identifier: Apache-2.0
// A hash table with open addressing: threads insert keys by atomicCAS and count each key.
#include <algorithm>
#include <map>
#include <vector>

#include "check.h"

constexpr unsigned kSlots = 1024, kEmpty = 0xffffffff;

struct Slot {
  unsigned key, count;
};

__global__ void insert(Slot* table, const unsigned* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = keys[i] * 2654435761u % kSlots;
  while (true) {
    const unsigned actual = atomicCAS(&table[at].key, kEmpty, keys[i]);
    if (actual == kEmpty || actual == keys[i]) break;
    at = (at + 1) % kSlots;
  }
  atomicAdd(&table[at].count, 1);
}

int main() {
  const int n = 3000;
  std::vector<unsigned> keys(n);
  std::map<unsigned, unsigned> expected, actual;
  for (int i = 0; i < n; ++i) ++expected[keys[i] = i * i % 701 * 1000];
  std::vector<Slot> table(kSlots, Slot{kEmpty, 0});
  Slot* device_table;
  unsigned* device_keys;
  check(cudaMalloc(&device_table, kSlots * sizeof(Slot)));
  check(cudaMalloc(&device_keys, n * sizeof(unsigned)));
  check(cudaMemcpy(device_table, table.data(), kSlots * sizeof(Slot), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  insert<<<(n + 127) / 128, 128>>>(device_table, device_keys, n);
  check(cudaMemcpy(table.data(), device_table, kSlots * sizeof(Slot), cudaMemcpyDeviceToHost));
  for (const Slot& slot : table) {
    if (slot.key != kEmpty) actual[slot.key] += slot.count;
  }
  return verdict("hash_table", actual == expected);
}
