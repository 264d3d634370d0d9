// SPDX-License-Identifier: Apache-2.0
// Distributed shared memory: each block of a cluster has a part of the bins of a histogram, and all
// blocks of the cluster count in all parts. Then a reduction in a kernel compiled for a cluster.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int kBlocks = 4, kThreads = 128, kBins = 256, kBinsOfBlock = kBins / kBlocks;

__global__ void histogram(unsigned* bins, const unsigned* values, int count) {
  __shared__ unsigned own[kBinsOfBlock];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kBinsOfBlock; i += kThreads) own[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const unsigned bin = values[i] % kBins;
    atomicAdd(cluster.map_shared_rank(own, bin / kBinsOfBlock) + bin % kBinsOfBlock, 1);
  }
  cluster.sync();
  const unsigned first = cluster.block_rank() * kBinsOfBlock;
  for (int i = threadIdx.x; i < kBinsOfBlock; i += kThreads) atomicAdd(&bins[first + i], own[i]);
}

__global__ void __cluster_dims__(2, 1, 1) sum(unsigned* sums, const unsigned* values) {
  __shared__ unsigned total;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) total = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&total, 0), values[blockIdx.x * kThreads + threadIdx.x]);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    sums[blockIdx.x / cluster.num_blocks()] = total;
}

int main() {
  constexpr int kCount = 10000, kSums = 4;
  std::vector<unsigned> values(kCount), expected(kBins), expected_sums(kSums);
  for (int i = 0; i < kCount; ++i) {
    values[i] = 1664525u * i + 1013904223u;
    ++expected[values[i] % kBins];
    if (i < kSums * 2 * kThreads) expected_sums[i / (2 * kThreads)] += values[i];
  }
  unsigned *device_values, *device_bins, *device_sums;
  check(cudaMalloc(&device_values, kCount * sizeof(unsigned)));
  check(cudaMalloc(&device_bins, kBins * sizeof(unsigned)));
  check(cudaMalloc(&device_sums, kSums * sizeof(unsigned)));
  check(cudaMemset(device_bins, 0, kBins * sizeof(unsigned)));
  check(
      cudaMemcpy(device_values, values.data(), kCount * sizeof(unsigned), cudaMemcpyHostToDevice));
  cudaLaunchConfig_t config{};
  config.gridDim = 2 * kBlocks;
  config.blockDim = kThreads;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = kBlocks;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, histogram, device_bins,
                           static_cast<const unsigned*>(device_values), kCount));
  sum<<<2 * kSums, kThreads>>>(device_sums, device_values);
  check(cudaGetLastError());
  std::vector<unsigned> bins(kBins), sums(kSums);
  check(cudaMemcpy(bins.data(), device_bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(sums.data(), device_sums, kSums * sizeof(unsigned), cudaMemcpyDeviceToHost));
  return verdict("cluster_histogram", bins == expected && sums == expected_sums);
}
