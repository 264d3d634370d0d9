// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles, coalesced groups, the grid, asynchronous copies; and malloc() and
// free() in a kernel, which only code compiled by nvcc can call.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdint>

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <int kSize>
__global__ void tile_sums(const float* x, float* y) {
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  float sum = x[global_index()];
  for (int step = kSize / 2; step > 0; step /= 2) sum += tile.shfl_xor(sum, step);
  if (tile.thread_rank() == 0) y[global_index() / kSize] = sum;
}

__global__ void tile_reduce(const int* x, int* sums, int* most) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int value = x[global_index()];
  sums[global_index()] = cg::reduce(tile, value, cg::plus<int>());
  most[global_index()] = cg::reduce(tile, value, cg::greater<int>());
}

__global__ void tile_scan(const int* x, int* inclusive, int* exclusive) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  inclusive[global_index()] = cg::inclusive_scan(tile, x[global_index()]);
  exclusive[global_index()] = cg::exclusive_scan(tile, x[global_index()]);
}

// Stores, for each odd element, the number of odd elements in the element's warp and the element's
// rank among these. One lane of each warp adds the number to `total`.
__global__ void coalesced_counts(const int* x, int* rank, int* size, int* total) {
  const int i = global_index();
  rank[i] = size[i] = -1;
  if (x[i] % 2 == 0) return;
  const auto group = cg::coalesced_threads();
  rank[i] = static_cast<int>(group.thread_rank());
  size[i] = static_cast<int>(group.size());
  if (group.thread_rank() == 0) atomicAdd(total, static_cast<int>(group.size()));
}

__global__ void binary_partition(const int* x, int* y) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int value = x[global_index()];
  const auto half = cg::binary_partition(tile, value % 3 == 0);
  y[global_index()] = cg::reduce(half, value, cg::plus<int>());
}

__global__ void labeled_partition(const int* labels, int* y) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::labeled_partition(tile, labels[global_index()]);
  y[global_index()] = static_cast<int>(group.size()) * 100 + static_cast<int>(group.thread_rank());
}

// Tests synchronisation of the grid: every block writes elements and, after grid.sync(), reads
// elements that other blocks wrote.
__global__ void grid_reversed(const int* x, int* between, int* y, int n) {
  const auto grid = cg::this_grid();
  for (int i = global_index(); i < n; i += static_cast<int>(grid.size())) between[i] = x[n - 1 - i];
  grid.sync();
  for (int i = global_index(); i < n; i += static_cast<int>(grid.size())) {
    y[i] = between[(i + n / 2) % n] + 1;
  }
  grid.sync();
  for (int i = global_index(); i < n; i += static_cast<int>(grid.size())) {
    between[i] = y[(i + 1) % n];
  }
}

// Fills shared memory with the next tile while the current tile is summed.
__global__ void asynchronous_sums(const float* x, float* y, int tiles) {
  __shared__ float tile[2][kThreads];
  const auto block = cg::this_thread_block();
  const float* source = x + static_cast<size_t>(blockIdx.x) * tiles * kThreads;
  cg::memcpy_async(block, tile[0], source, sizeof(tile[0]));
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      cg::memcpy_async(block, tile[(i + 1) % 2], source + (i + 1) * kThreads, sizeof(tile[0]));
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    sum += tile[i % 2][kThreads - 1 - threadIdx.x];
    block.sync();
  }
  y[global_index()] = sum;
}

struct Node {
  int value;
  Node* next;
};

// Each thread builds a list of nodes in the device's heap, frees the nodes, and stores the sum of
// their values in y.
__global__ void list_in_the_heap(const int* lengths, int* y) {
  Node* first = nullptr;
  for (int i = 0; i < lengths[global_index()]; ++i) {
    auto* node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr) return;
    node->value = i;
    node->next = first;
    first = node;
  }
  int sum = 0;
  while (first != nullptr) {
    sum += first->value;
    Node* next = first->next;
    free(first);
    first = next;
  }
  y[global_index()] = sum;
}

int last() { return cudaGetLastError(); }

}  // namespace

extern "C" {

int tiles_of_4(const float* x, float* y, int64_t blocks, cudaStream_t stream) {
  tile_sums<4><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int tiles_of_32(const float* x, float* y, int64_t blocks, cudaStream_t stream) {
  tile_sums<32><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int tiles_reduce(const int* x, int* sums, int* most, int64_t blocks, cudaStream_t stream) {
  tile_reduce<<<blocks, kThreads, 0, stream>>>(x, sums, most);
  return last();
}
int tiles_scan(const int* x, int* inclusive, int* exclusive, int64_t blocks, cudaStream_t stream) {
  tile_scan<<<blocks, kThreads, 0, stream>>>(x, inclusive, exclusive);
  return last();
}
int coalesced(const int* x, int* rank, int* size, int* total, int64_t blocks, cudaStream_t stream) {
  coalesced_counts<<<blocks, kThreads, 0, stream>>>(x, rank, size, total);
  return last();
}
int partition_in_two(const int* x, int* y, int64_t blocks, cudaStream_t stream) {
  binary_partition<<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int partition_by_label(const int* labels, int* y, int64_t blocks, cudaStream_t stream) {
  labeled_partition<<<blocks, kThreads, 0, stream>>>(labels, y);
  return last();
}
int grid_sync(const int* x, int* between, int* y, int64_t n, int64_t blocks, cudaStream_t stream) {
  int count = static_cast<int>(n);
  void* arguments[] = {&x, &between, &y, &count};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_reversed),
                                     dim3(static_cast<unsigned>(blocks)), dim3(kThreads), arguments,
                                     0, stream);
}
int asynchronous(const float* x, float* y, int64_t tiles, int64_t blocks, cudaStream_t stream) {
  asynchronous_sums<<<blocks, kThreads, 0, stream>>>(x, y, static_cast<int>(tiles));
  return last();
}
int heap(const int* lengths, int* y, int64_t blocks, cudaStream_t stream) {
  list_in_the_heap<<<blocks, kThreads, 0, stream>>>(lengths, y);
  return last();
}

}  // extern "C"
