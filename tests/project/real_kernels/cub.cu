// SPDX-License-Identifier: Apache-2.0
// Algorithms of the toolkit's CUB for a device and for a block, in C functions that launch on a
// stream and return CUDA's error.
#include <cub/cub.cuh>

#include <cstdint>

namespace {

/// Calls a device-wide function of CUB: first for the size of its temporary storage, then for its
/// work.
template <class Function>
int with_storage(const Function& function) {
  size_t bytes = 0;
  cudaError_t error = function(nullptr, bytes);
  void* storage = nullptr;
  if (error == cudaSuccess) error = cudaMalloc(&storage, bytes);
  if (error == cudaSuccess) error = function(storage, bytes);
  const cudaError_t freed = cudaFree(storage);
  return error != cudaSuccess ? error : freed;
}

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return (x & 1) != 0; }
};

constexpr int kThreads = 128, kItems = 4;

template <cub::BlockReduceAlgorithm kAlgorithm>
__global__ void block_sum(const float* x, float* y) {
  using Reduce = cub::BlockReduce<float, kThreads, kAlgorithm>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

__global__ void block_max_of_some(const int* x, int* y, int valid) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const int most =
      Reduce(storage).Reduce(x[blockIdx.x * kThreads + threadIdx.x], cuda::maximum<>{}, valid);
  if (threadIdx.x == 0) y[blockIdx.x] = most;
}

template <cub::BlockScanAlgorithm kAlgorithm>
__global__ void block_scan(const int* x, int* y) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads, kAlgorithm>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  int items[kItems];
  const int first = blockIdx.x * kThreads * kItems;
  Load(storage.load).Load(x + first, items);
  __syncthreads();
  Scan(storage.scan).InclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(y + first, items);
}

template <class Key>
__global__ void block_sort(const Key* x, Key* y, bool descending) {
  using Sort = cub::BlockRadixSort<Key, kThreads, kItems>;
  __shared__ typename Sort::TempStorage storage;
  Key items[kItems];
  const int first = blockIdx.x * kThreads * kItems;
  cub::LoadDirectBlocked(threadIdx.x, x + first, items);
  if (descending) {
    Sort(storage).SortDescending(items);
  } else {
    Sort(storage).Sort(items);
  }
  cub::StoreDirectBlocked(threadIdx.x, y + first, items);
}

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};
__global__ void block_merge_sort(const int* x, int* y) {
  using Sort = cub::BlockMergeSort<int, kThreads, kItems>;
  __shared__ typename Sort::TempStorage storage;
  int items[kItems];
  const int first = blockIdx.x * kThreads * kItems;
  cub::LoadDirectBlocked(threadIdx.x, x + first, items);
  Sort(storage).Sort(items, Less());
  cub::StoreDirectBlocked(threadIdx.x, y + first, items);
}

template <cub::BlockHistogramAlgorithm kAlgorithm>
__global__ void block_histogram(const uint8_t* x, int* bins) {
  using Histogram = cub::BlockHistogram<uint8_t, kThreads, kItems, 256, kAlgorithm>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ int counts[256];
  uint8_t items[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, x + blockIdx.x * kThreads * kItems, items);
  Histogram(storage).Histogram(items, counts);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += kThreads) bins[blockIdx.x * 256 + i] = counts[i];
}

__global__ void warp_sums(const float* x, float* sums, float* scans) {
  using Reduce = cub::WarpReduce<float, 16>;
  using Scan = cub::WarpScan<float>;
  __shared__ typename Reduce::TempStorage reduce[kThreads / 16];
  __shared__ typename Scan::TempStorage scan[kThreads / 32];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const float sum = Reduce(reduce[threadIdx.x / 16]).Sum(x[i]);
  if (threadIdx.x % 16 == 0) sums[i / 16] = sum;
  float before;
  Scan(scan[threadIdx.x / 32]).ExclusiveSum(x[i], before);
  scans[i] = before;
}

int last() { return cudaGetLastError(); }

}  // namespace

extern "C" {

int device_sum(const float* x, float* y, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceReduce::Sum(storage, bytes, x, y, n, stream);
  });
}
int device_min(const int* x, int* y, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceReduce::Min(storage, bytes, x, y, n, stream);
  });
}
int device_max(const double* x, double* y, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceReduce::Max(storage, bytes, x, y, n, stream);
  });
}
int device_segments_sum(const int* x, int* y, const int* begins, int64_t segments,
                        cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(storage, bytes, x, y, segments, begins, begins + 1,
                                           stream);
  });
}
int device_inclusive_sum(const int* x, int* y, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, x, y, n, stream);
  });
}
int device_exclusive_sum(const uint64_t* x, uint64_t* y, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(storage, bytes, x, y, n, stream);
  });
}
int device_sort_keys(const uint32_t* x, uint32_t* y, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, x, y, n, 0, 32, stream);
  });
}
int device_sort_pairs_descending(const float* keys, float* sorted, const int* values, int* moved,
                                 int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairsDescending(storage, bytes, keys, sorted, values, moved, n,
                                                     0, 32, stream);
  });
}
int device_histogram_even(const float* x, int* bins, int64_t levels, int64_t n,
                          cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(storage, bytes, x, bins, static_cast<int>(levels),
                                               -2.0f, 2.0f, n, stream);
  });
}
int device_histogram_range(const int* x, int* bins, const int* levels, int64_t count, int64_t n,
                           cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceHistogram::HistogramRange(storage, bytes, x, bins, static_cast<int>(count),
                                                levels, n, stream);
  });
}
int device_select_odd(const int* x, int* y, int* count, int64_t n, cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceSelect::If(storage, bytes, x, y, count, n, IsOdd(), stream);
  });
}
int device_run_lengths(const int* x, int* values, int* lengths, int* count, int64_t n,
                       cudaStream_t stream) {
  return with_storage([&](void* storage, size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(storage, bytes, x, values, lengths, count, n, stream);
  });
}

int block_sum_raking(const float* x, float* y, int64_t blocks, cudaStream_t stream) {
  block_sum<cub::BLOCK_REDUCE_RAKING><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_sum_commutative(const float* x, float* y, int64_t blocks, cudaStream_t stream) {
  block_sum<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_sum_warps(const float* x, float* y, int64_t blocks, cudaStream_t stream) {
  block_sum<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_max(const int* x, int* y, int64_t blocks, int64_t valid, cudaStream_t stream) {
  block_max_of_some<<<blocks, kThreads, 0, stream>>>(x, y, static_cast<int>(valid));
  return last();
}
int block_scan_raking(const int* x, int* y, int64_t blocks, cudaStream_t stream) {
  block_scan<cub::BLOCK_SCAN_RAKING><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_scan_memoize(const int* x, int* y, int64_t blocks, cudaStream_t stream) {
  block_scan<cub::BLOCK_SCAN_RAKING_MEMOIZE><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_scan_warps(const int* x, int* y, int64_t blocks, cudaStream_t stream) {
  block_scan<cub::BLOCK_SCAN_WARP_SCANS><<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_sort_ints(const int* x, int* y, int64_t blocks, int64_t descending, cudaStream_t stream) {
  block_sort<<<blocks, kThreads, 0, stream>>>(x, y, descending != 0);
  return last();
}
int block_sort_doubles(const double* x, double* y, int64_t blocks, int64_t descending,
                       cudaStream_t stream) {
  block_sort<<<blocks, kThreads, 0, stream>>>(x, y, descending != 0);
  return last();
}
int block_sort_by_merging(const int* x, int* y, int64_t blocks, cudaStream_t stream) {
  block_merge_sort<<<blocks, kThreads, 0, stream>>>(x, y);
  return last();
}
int block_histogram_atomic(const uint8_t* x, int* bins, int64_t blocks, cudaStream_t stream) {
  block_histogram<cub::BLOCK_HISTO_ATOMIC><<<blocks, kThreads, 0, stream>>>(x, bins);
  return last();
}
int block_histogram_sort(const uint8_t* x, int* bins, int64_t blocks, cudaStream_t stream) {
  block_histogram<cub::BLOCK_HISTO_SORT><<<blocks, kThreads, 0, stream>>>(x, bins);
  return last();
}
int warp_sum_and_scan(const float* x, float* sums, float* scans, int64_t blocks,
                      cudaStream_t stream) {
  warp_sums<<<blocks, kThreads, 0, stream>>>(x, sums, scans);
  return last();
}

}  // extern "C"
