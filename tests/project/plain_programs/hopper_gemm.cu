// SPDX-License-Identifier: Apache-2.0
// C = A * B^T on compute capability 9.0a, for every swizzle of shared memory and for clusters of 1,
// 2 and 4 blocks. The blocks of a cluster have the same rows of A: each block copies a part of the
// rows into the shared memory of all blocks. `hopper_gemm f16 64 2` runs the cases of one element
// type, one swizzle in bytes and one cluster size; `hopper_gemm` runs all cases.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.h"

namespace {

constexpr int kRows = 64, kColumns = 64, kStages = 2, kDepthBytes = 128;  // tile of a block
constexpr int kTileBytes = kRows * kDepthBytes;  // size of a tile of A or of B [bytes]
constexpr int kConsumers = 128, kThreads = kConsumers + 32;

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ uint32_t special_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ uint32_t special_size() {
  uint32_t size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
__device__ void init_barrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
// Arrives at the mbarrier of block `rank` of the cluster that has the same offset in shared memory
// as `barrier`.
__device__ void arrive_at(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
__device__ void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred complete;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%0], %1;\n"
      "@!complete bra again;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ void synchronise_cluster() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void copy_box(uint32_t to, const CUtensorMap* map, int x, int y, uint32_t barrier,
                         uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}
__device__ void store_box(const CUtensorMap* map, int x, int y, uint32_t from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}

/// The layout of tiles in shared memory. A tile consists of boxes whose rows have `swizzle` bytes,
/// or 16 bytes if `swizzle` is 0.
struct Layout {
  int swizzle;  // 0, 32, 64 or 128 [bytes]

  __host__ __device__ int width() const { return swizzle == 0 ? 16 : swizzle; }
  // Returns the descriptor with which wgmma reads 32 bytes of each row of a tile, from byte `at`
  // on.
  __device__ uint64_t descriptor(uint32_t tile, int at) const {
    const uint32_t box = kRows * width();
    const uint32_t start = tile + at / width() * box + at % width();
    const uint64_t leading = swizzle == 0 ? box : 16, stride = 8 * width();
    const uint64_t mode = swizzle == 0 ? 0 : swizzle == 32 ? 3 : swizzle == 64 ? 2 : 1;
    return (start >> 4 & 0x3fff) | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
  }
};

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
__device__ void produce(const Maps& maps, int steps, Layout layout, uint32_t first_a,
                        uint32_t first_b, const uint64_t* full, const uint64_t* empty) {
  const uint32_t rank = special_rank(), size = special_size();
  const int m = blockIdx.y * kRows, n = blockIdx.x * kColumns;
  const int rows = kRows / size, elements = layout.width() / sizeof(T);
  const auto all = static_cast<uint16_t>((1 << size) - 1), own = static_cast<uint16_t>(1 << rank);
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages, round = step / kStages;
    if (round > 0) wait(shared_address(&empty[stage]), (round + 1) & 1);
    const uint32_t barrier = shared_address(&full[stage]);
    arrive_expecting(barrier, 2 * kTileBytes);
    for (int box = 0; box < kDepthBytes / layout.width(); ++box) {
      const int k = step * kDepthBytes / int(sizeof(T)) + box * elements;
      const uint32_t at = stage * kTileBytes + box * kRows * layout.width();
      copy_box(first_a + at + rank * rows * layout.width(), &maps.a, k, m + rank * rows, barrier,
               all);
      copy_box(first_b + at, &maps.b, k, n, barrier, own);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    product(const __grid_constant__ Maps maps, int steps, Layout layout) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const uint32_t first_a = shared_address(tiles), first_b = first_a + kStages * kTileBytes;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      init_barrier(shared_address(&full[stage]), 1);
      init_barrier(shared_address(&empty[stage]), special_size());
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  synchronise_cluster();
  if (threadIdx.x == kConsumers) {
    produce<T>(maps, steps, layout, first_a, first_b, full, empty);
  } else if (threadIdx.x < kConsumers) {
    float d[32] = {};
    for (int step = 0; step < steps; ++step) {
      const int stage = step % kStages;
      wait(shared_address(&full[stage]), step / kStages & 1);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      for (int at = 0; at < kDepthBytes; at += 32) {
        multiply(T(), d, layout.descriptor(first_a + stage * kTileBytes, at),
                 layout.descriptor(first_b + stage * kTileBytes, at));
      }
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::
                       : "memory");
      // The wait covers the products of all warps of the warpgroup, so one thread for each block of
      // the cluster releases the stage.
      if (threadIdx.x < special_size()) arrive_at(shared_address(&empty[stage]), threadIdx.x);
    }
    // The tile of C overwrites the tiles of A as two boxes of 32 columns. This is safe: the waits
    // for `full` covered the rows of A that other blocks copy, and the barrier follows the last
    // products.
    asm volatile("bar.sync 1, 128;" ::: "memory");
    for (int i = 0; i < 32; ++i) {
      const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
      const int column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
      const uint32_t at = column / 32 * kTileBytes + row * kDepthBytes + column % 32 * 4;
      *reinterpret_cast<float*>(tiles + (at ^ (at / kDepthBytes % 8) * 16)) = d[i];
    }
    asm volatile("fence.proxy.async.shared::cta;\nbar.sync 1, 128;" ::: "memory");
    if (threadIdx.x == 0) {
      const int m = blockIdx.y * kRows, n = blockIdx.x * kColumns;
      store_box(&maps.c, n, m, first_a);
      store_box(&maps.c, n + 32, m, first_a + kTileBytes);
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
  __syncwarp();
  synchronise_cluster();  // no block ends while other blocks arrive at its mbarriers
}

CUtensorMap encoded(CUtensorMapDataType type, void* matrix, int rows, int columns, int size,
                    int box_rows, int box_columns, int swizzle) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found));
  const cuuint64_t sizes[] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t stride = cuuint64_t(columns) * size;
  const cuuint32_t box[] = {cuuint32_t(box_columns), cuuint32_t(box_rows)}, steps[] = {1, 1};
  const CUtensorMapSwizzle mode = swizzle == 0    ? CU_TENSOR_MAP_SWIZZLE_NONE
                                  : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                  : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                  : CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMap map;
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, type, 2, matrix, sizes, &stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(error == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue);
  return map;
}

// Returns whether a product of m by n elements with k terms is right. The elements are multiples of
// 1/8, so the sums are exact.
template <class T>
bool is_right(CUtensorMapDataType type, int swizzle, int cluster, int m, int n, int k) {
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
  const Layout layout{swizzle};
  const int elements = layout.width() / int(sizeof(T));
  const Maps maps{
      encoded(type, device_a, m, k, sizeof(T), kRows / cluster, elements, swizzle),
      encoded(type, device_b, n, k, sizeof(T), kColumns, elements, swizzle),
      encoded(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, device_c, m, n, sizeof(float), kRows, 32, 128)};
  constexpr int kSharedBytes = 2 * kStages * kTileBytes;
  check(
      cudaFuncSetAttribute(product<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  const int blocks = (n + kColumns - 1) / kColumns;
  config.gridDim = dim3((blocks + cluster - 1) / cluster * cluster, (m + kRows - 1) / kRows);
  config.blockDim = kThreads;
  config.dynamicSmemBytes = kSharedBytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  constexpr int kDepth = kDepthBytes / sizeof(T);
  check(cudaLaunchKernelEx(&config, product<T>, maps, (k + kDepth - 1) / kDepth, layout));
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
  if (wrong != 0)
    std::printf("swizzle %d, cluster %d: %d wrong elements\n", swizzle, cluster, wrong);
  return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  const int only_swizzle = argc > 2 ? std::atoi(argv[2]) : -1;
  const int only_cluster = argc > 3 ? std::atoi(argv[3]) : 0;
  bool right = true;
  for (const int swizzle : {0, 32, 64, 128}) {
    for (const int cluster : {1, 2, 4}) {
      if (only_swizzle >= 0 && swizzle != only_swizzle) continue;
      if (only_cluster != 0 && cluster != only_cluster) continue;
      const int n = 64 * cluster;
      if (only.empty() || only == "f16") {
        right &= is_right<__half>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, swizzle, cluster, 64, n, 256);
        right &=
            is_right<__half>(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, swizzle, cluster, 100, n - 24, 200);
      }
      if (only.empty() || only == "bf16") {
        right &= is_right<__nv_bfloat16>(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, swizzle, cluster, 72,
                                         n + 8, 328);
      }
      if (only.empty() || only == "e4m3") {
        right &= is_right<__nv_fp8_e4m3>(CU_TENSOR_MAP_DATA_TYPE_UINT8, swizzle, cluster, 40, n - 4,
                                         464);
      }
    }
  }
  return verdict("hopper_gemm", right);
}
