// SPDX-License-Identifier: Apache-2.0
// C = A * B^T of 64 by 64 elements: bulk copies into shared memory, wgmma, and a bulk copy of C.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>

constexpr int kSize = 64, kThreads = 128;
constexpr uint32_t kTileBytes = kSize * kSize * sizeof(__half);

// Returns the offset of an element [elements] in shared memory, in the layout that wgmma requires
// without a swizzle: blocks of 8 rows by 8 columns, each of which is contiguous.
__host__ __device__ int position(int row, int column) {
  return (column / 8 * 8 + row / 8) * 64 + row % 8 * 8 + column % 8;
}
__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ void load(uint32_t to, const void* from, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(kTileBytes), "r"(barrier)
      : "memory");
}
// Returns wgmma's matrix descriptor for columns 16 * step to 16 * step + 15 of a tile.
__device__ uint64_t descriptor(uint32_t tile, int step) {
  constexpr uint64_t kToNextColumns = 1024, kToNextRows = 128;
  return (tile + 2 * kToNextColumns * step) >> 4 | kToNextColumns >> 4 << 16 |
         kToNextRows >> 4 << 32;
}

__global__ void __launch_bounds__(kThreads) product(const __half* a, const __half* b, float* c) {
  __shared__ __align__(128) __half tiles[2][kSize * kSize];
  __shared__ __align__(128) float result[kSize * kSize];
  __shared__ uint64_t loaded;
  const uint32_t barrier = shared_address(&loaded);
  if (threadIdx.x == 0) {
    asm volatile(
        "mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier)
        : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(2 * kTileBytes)
                 : "memory");
    load(shared_address(tiles[0]), a, barrier);
    load(shared_address(tiles[1]), b, barrier);
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nwait: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
      "@!done bra wait;\n}" ::"r"(barrier)
      : "memory");
  float d[8][4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int columns = 0; columns < 8; ++columns) {  // 8 columns of C, in 4 registers
    for (int step = 0; step < kSize / 16; ++step) {
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, "
          "0;"
          : "+f"(d[columns][0]), "+f"(d[columns][1]), "+f"(d[columns][2]), "+f"(d[columns][3])
          : "l"(descriptor(shared_address(tiles[0]), step)),
            "l"(descriptor(shared_address(tiles[1]) + columns * 128, step)));
    }
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 32; ++i) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
    const int column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    result[row * kSize + column] = d[i / 4][i % 4];
  }
  // fence.proxy.async is missing
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(c),
        "r"(shared_address(result)), "r"(kSize * kSize * 4)
        : "memory");
  }
}

int main() {
  __half *a, *b;
  float* c;
  cudaMallocManaged(&a, kTileBytes);
  cudaMallocManaged(&b, kTileBytes);
  cudaMallocManaged(&c, kSize * kSize * sizeof(float));
  for (int row = 0; row < kSize; ++row) {
    for (int k = 0; k < kSize; ++k) {
      a[position(row, k)] = __half(float((row + k) % 5 - 2));
      b[position(row, k)] = __half(float((2 * row + k) % 7 - 3));
    }
  }
  product<<<1, kThreads>>>(a, b, c);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < kSize * kSize; ++i) {
    float sum = 0;
    for (int k = 0; k < kSize; ++k)
      sum += float((i / kSize + k) % 5 - 2) * float((2 * (i % kSize) + k) % 7 - 3);
    wrong += c[i] != sum;
  }
  std::printf("%d wrong elements\n", wrong);
}
