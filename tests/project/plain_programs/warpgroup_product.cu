// SPDX-License-Identifier: Apache-2.0
// C = A * B^T on compute capability 9.0a: one warp copies tiles by tensor maps into a ring of
// buffers, four warps multiply the tiles with wgmma, and C is stored by a tensor map.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <vector>

#include "check.h"

namespace {

constexpr int kTileM = 64, kTileN = 64, kStages = 3, kLineBytes = 128;
constexpr int kTileBytes = kTileM * kLineBytes;  // size of a tile of A, and of a tile of B [bytes]
constexpr int kConsumers = 128, kThreads = kConsumers + 32;

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ void init_barrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
__device__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred complete;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@!complete bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ void copy_tile(uint32_t to, const CUtensorMap* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
__device__ void store_tile(const CUtensorMap* map, int x, int y, uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}
// Returns the wgmma descriptor of a matrix at address `at` of shared memory, whose rows have 128
// swizzled bytes along k.
__device__ uint64_t descriptor_of(uint32_t at) {
  constexpr uint64_t kRowsOfEight = 8 * kLineBytes, kSwizzleOf128 = 1;
  return (at >> 4 & 0x3fff) | uint64_t{1} << 16 | (kRowsOfEight >> 4) << 32 | kSwizzleOf128 << 62;
}

#define SUMS(i)                                                                               \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define MULTIPLY(form, transposition)                                                             \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64" form                                         \
               " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21," \
               "%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1" transposition ";"    \
               : SUMS(0), SUMS(8), SUMS(16), SUMS(24)                                             \
               : "l"(a), "l"(b))
__device__ void multiply(__half, float* d, uint64_t a, uint64_t b) {
  MULTIPLY("k16.f32.f16.f16", ", 0, 0");
}
__device__ void multiply(__nv_bfloat16, float* d, uint64_t a, uint64_t b) {
  MULTIPLY("k16.f32.bf16.bf16", ", 0, 0");
}
__device__ void multiply(__nv_fp8_e4m3, float* d, uint64_t a, uint64_t b) {
  MULTIPLY("k32.f32.e4m3.e4m3", "");
}

struct Maps {
  CUtensorMap a, b, c;
};

template <class T>
__global__ void __launch_bounds__(kThreads) product(const __grid_constant__ Maps maps, int steps) {
  constexpr int kDepth = kLineBytes / sizeof(T);
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const uint32_t first_a = shared_address(tiles), first_b = first_a + kStages * kTileBytes;
  const int m = blockIdx.y * kTileM, n = blockIdx.x * kTileN;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      init_barrier(shared_address(&full[stage]), 1);
      init_barrier(shared_address(&empty[stage]), kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x != kConsumers) return;
    for (int step = 0; step < steps; ++step) {
      const int stage = step % kStages, round = step / kStages;
      if (round > 0) wait(shared_address(&empty[stage]), (round + 1) & 1);
      const uint32_t barrier = shared_address(&full[stage]);
      arrive_expecting(barrier, 2 * kTileBytes);
      copy_tile(first_a + stage * kTileBytes, &maps.a, step * kDepth, m, barrier);
      copy_tile(first_b + stage * kTileBytes, &maps.b, step * kDepth, n, barrier);
    }
    return;
  }
  float d[32] = {};
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    wait(shared_address(&full[stage]), step / kStages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int at = 0; at < kLineBytes; at += 32) {
      multiply(T(), d, descriptor_of(first_a + stage * kTileBytes + at),
               descriptor_of(first_b + stage * kTileBytes + at));
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    arrive(shared_address(&empty[stage]));
  }
  // Stores two boxes of 32 columns in the buffers of A, which are free because all products are
  // complete.
  asm volatile("bar.sync 1, 128;" ::: "memory");
  for (int i = 0; i < 32; ++i) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
    const int column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    const uint32_t at = column / 32 * kTileBytes + row * kLineBytes + column % 32 * 4;
    *reinterpret_cast<float*>(tiles + (at ^ (at / kLineBytes % 8) * 16)) = d[i];
  }
  asm volatile("fence.proxy.async.shared::cta;\nbar.sync 1, 128;" ::: "memory");
  if (threadIdx.x != 0) return;
  store_tile(&maps.c, n, m, first_a);
  store_tile(&maps.c, n + 32, m, first_a + kTileBytes);
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

CUtensorMap encoded(CUtensorMapDataType type, void* matrix, int rows, int columns, int size,
                    int box_columns) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found));
  const cuuint64_t sizes[] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t stride = cuuint64_t(columns) * size;
  const cuuint32_t box[] = {cuuint32_t(box_columns), kTileM}, steps[] = {1, 1};
  CUtensorMap map;
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, type, 2, matrix, sizes, &stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(error == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

// Computes a product of m by n elements, each a sum of k terms, and returns whether it is correct.
// The elements are multiples of 1/8, so that the sums are exact.
template <class T>
bool is_right(CUtensorMapDataType type, int m, int n, int k) {
  std::vector<T> a(m * k), b(n * k);
  std::vector<float> c(m * n);
  uint32_t state = 12345;
  for (std::vector<T>* all : {&a, &b}) {
    for (T& element : *all) {
      state = state * 1664525u + 1013904223u;
      element = T(static_cast<float>(static_cast<int>(state >> 24) % 17 - 8) / 8);
    }
  }
  T *device_a, *device_b;
  float* device_c;
  check(cudaMalloc(&device_a, a.size() * sizeof(T)));
  check(cudaMalloc(&device_b, b.size() * sizeof(T)));
  check(cudaMalloc(&device_c, c.size() * sizeof(float)));
  check(cudaMemcpy(device_a, a.data(), a.size() * sizeof(T), cudaMemcpyHostToDevice));
  check(cudaMemcpy(device_b, b.data(), b.size() * sizeof(T), cudaMemcpyHostToDevice));
  constexpr int kDepth = kLineBytes / sizeof(T);
  const Maps maps{encoded(type, device_a, m, k, sizeof(T), kDepth),
                  encoded(type, device_b, n, k, sizeof(T), kDepth),
                  encoded(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, device_c, m, n, sizeof(float), 32)};
  constexpr int kSharedBytes = 2 * kStages * kTileBytes;
  check(
      cudaFuncSetAttribute(product<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const dim3 grid((n + kTileN - 1) / kTileN, (m + kTileM - 1) / kTileM);
  product<T><<<grid, kThreads, kSharedBytes>>>(maps, (k + kDepth - 1) / kDepth);
  check(cudaGetLastError());
  check(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int l = 0; l < k; ++l) {
      sum += static_cast<float>(a[i / n * k + l]) * static_cast<float>(b[i % n * k + l]);
    }
    wrong += c[i] != sum;
  }
  check(cudaFree(device_a));
  check(cudaFree(device_b));
  check(cudaFree(device_c));
  return wrong == 0;
}

}  // namespace

int main() {
  return verdict("warpgroup_product",
                 is_right<__half>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 128, 192, 320) &&
                     is_right<__nv_bfloat16>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 100, 72, 200) &&
                     is_right<__nv_fp8_e4m3>(CU_TENSOR_MAP_DATA_TYPE_UINT8, 128, 64, 512));
}
