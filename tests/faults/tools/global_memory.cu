// SPDX-License-Identifier: Apache-2.0
// Faults in global memory: between blocks and warps, out of bounds, and uninitialised memory.
#include <cstdlib>

#include "faults.h"

__global__ void one_word(int* y, bool planted) {
  if (threadIdx.x == 0) y[planted ? 0 : blockIdx.x] = blockIdx.x + 1;  // blocks_store_one_word
}
FAULT(blocks_store_one_word, "two blocks store different values to one word", "racecheck") {
  one_word<<<2, 32>>>(zeros(2), planted);
}

__global__ void smooth(int* y, const int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[(i + 1) % 64] + i;  // smooths_in_place
}
FAULT(smooths_in_place, "neighbours' elements are overwritten in place", "racecheck") {
  int* x = zeros(64);
  smooth<<<2, 32>>>(planted ? x : zeros(64), x);
}

__global__ void count_blocks(int* count, bool planted) {
  if (threadIdx.x != 0) return;
  if (planted) {
    ++*count;  // global_count_without_atomic
  } else {
    atomicAdd(count, 1);
  }
}
FAULT(global_count_without_atomic, "blocks count without an atomic", "racecheck") {
  count_blocks<<<3, 32>>>(zeros(1), planted);
}

__global__ void count_in_scope(int* count, bool planted) {
  if (threadIdx.x != 0) return;
  if (planted) {
    atomicAdd_block(count, 1);  // atomic_of_block_scope
  } else {
    atomicAdd(count, 1);
  }
}
FAULT(atomic_of_block_scope, "blocks count by an atomic of block scope", "racecheck") {
  count_in_scope<<<3, 32>>>(zeros(1), planted);
}

enum FenceKind { kNoFence, kBlockFence, kDeviceFence };

__global__ void last_block(int* y, int* parts, unsigned* done, int fence) {
  __shared__ bool last;
  parts[blockIdx.x * 32 + threadIdx.x] = blockIdx.x + 1;  // parts 1
  if (fence == kBlockFence) __threadfence_block();
  if (fence == kDeviceFence) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(done, 1) == gridDim.x - 1;
    if (fence == kDeviceFence) __threadfence();
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int b = 0; b < gridDim.x; ++b) sum += parts[b * 32 + threadIdx.x];  // parts 2
  y[threadIdx.x] = sum;
}
FAULT(last_block_without_fence, "the last block adds up the results, and no block has a fence",
      "racecheck", "parts") {
  last_block<<<3, 32>>>(zeros(32), zeros(96), zeros<unsigned>(1),
                        planted ? kNoFence : kDeviceFence);
}
FAULT(last_block_with_block_fence, "`__threadfence_block()` across blocks", "racecheck", "parts") {
  last_block<<<3, 32>>>(zeros(32), zeros(96), zeros<unsigned>(1),
                        planted ? kBlockFence : kDeviceFence);
}

enum FlagKind { kOfDevice, kReleaseOfBlock, kRelaxed, kAcquireOfBlock, kVolatile };

__global__ void flag(int* y, int* x, unsigned* ready, int kind) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *x = 7;  // behind_flag 1
    if (kind == kReleaseOfBlock) {
      asm volatile("st.release.cta.u32 [%0], 1;" ::"l"(ready) : "memory");
    } else if (kind == kRelaxed) {
      asm volatile("st.relaxed.gpu.u32 [%0], 1;" ::"l"(ready) : "memory");
    } else if (kind == kVolatile) {
      *static_cast<volatile unsigned*>(ready) = 1;
    } else {
      asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(ready) : "memory");
    }
    return;
  }
  for (unsigned seen = 0; seen == 0;) {
    if (kind == kAcquireOfBlock) {
      asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(seen) : "l"(ready) : "memory");
    } else {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(ready) : "memory");
    }
  }
  *y = *x;  // behind_flag 2
}
FAULT(release_of_block_scope, "a flag for another block is released at block scope", "racecheck",
      "behind_flag") {
  flag<<<2, 32>>>(zeros(1), zeros(1), zeros<unsigned>(1), planted ? kReleaseOfBlock : kOfDevice);
}
FAULT(flag_without_release, "a flag for another block is stored by a relaxed atomic", "racecheck",
      "behind_flag") {
  flag<<<2, 32>>>(zeros(1), zeros(1), zeros<unsigned>(1), planted ? kRelaxed : kOfDevice);
}
FAULT(acquire_of_block_scope, "a flag of another block is acquired at block scope", "racecheck",
      "behind_flag") {
  flag<<<2, 32>>>(zeros(1), zeros(1), zeros<unsigned>(1), planted ? kAcquireOfBlock : kOfDevice);
}
FAULT(volatile_flag, "a `volatile` flag for another block, without a fence", "racecheck",
      "behind_flag") {
  flag<<<2, 32>>>(zeros(1), zeros(1), zeros<unsigned>(1), planted ? kVolatile : kOfDevice);
}

__global__ void scratch(int* y, int* x, bool planted) {
  x[threadIdx.x] = threadIdx.x + 1;  // warps_share_scratch 1
  if (!planted) __syncthreads();
  y[threadIdx.x] = x[63 - threadIdx.x];  // warps_share_scratch 2
}
FAULT(warps_share_scratch, "warps of a block exchange data in global memory, without a barrier",
      "racecheck") {
  scratch<<<1, 64>>>(zeros(64), zeros(64), planted);
}

__global__ void double_elements(int* y, const int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];  // load_off_by_one
}
FAULT(load_off_by_one, "an array with one element less than the count passed to the kernel",
      "memcheck") {
  double_elements<<<2, 64>>>(zeros(100), zeros(planted ? 99 : 100), 100);
}

__global__ void fill(int* y, int n, bool planted) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (planted ? i <= n : i < n) y[i] = 1;  // store_off_by_one
}
FAULT(store_off_by_one, "`<=` instead of `<`", "memcheck") {
  fill<<<2, 64>>>(zeros(100), 100, planted);
}

__global__ void unguarded(int* y, int n, bool planted) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (planted || i < n) y[i] = 1;  // missing_guard
}
FAULT(missing_guard, "the last block does not check the bound", "memcheck") {
  unguarded<<<4, 32>>>(zeros(100), 100, planted);
}

__global__ void differences(int* y, const int* x, bool planted) {
  const int i = threadIdx.x;
  y[i] = x[i] - (planted || i > 0 ? x[i - 1] : 0);  // load_before_the_start
}
FAULT(load_before_the_start, "the first thread reads a left neighbour", "memcheck") {
  differences<<<1, 32>>>(zeros(32), zeros(32), planted);
}

__global__ void packs(float* y, const float* x) {
  const float4 pack = reinterpret_cast<const float4*>(x)[threadIdx.x];  // misaligned_vector
  y[threadIdx.x] = pack.x + pack.y + pack.z + pack.w;
}
FAULT(misaligned_vector, "a `float4` at an address that is aligned to 4 bytes", "memcheck") {
  packs<<<1, 32>>>(zeros<float>(32), zeros<float>(132) + (planted ? 1 : 4));
}

__global__ void doubles(double* y) { y[threadIdx.x] = 1; }  // misaligned_double
FAULT(misaligned_double, "a `double` at an address that is aligned to 4 bytes", "memcheck") {
  doubles<<<1, 32>>>(reinterpret_cast<double*>(zeros<float>(128) + (planted ? 1 : 2)));
}

__global__ void store_one(int* y) { *y = 1; }  // store_one
FAULT(use_after_free, "a kernel uses memory after `cudaFree()`", "memcheck", "store_one") {
  int* y = zeros(1);
  if (planted) cudaFree(y);
  store_one<<<1, 1>>>(y);
  if (!planted) cudaFree(y);
}
FAULT(use_after_free_async, "a kernel uses memory after `cudaFreeAsync()` in its stream",
      "memcheck", "store_one") {
  int* y = nullptr;
  cudaMallocAsync(&y, sizeof(int), cudaStreamPerThread);
  if (planted) cudaFreeAsync(y, cudaStreamPerThread);
  store_one<<<1, 1, 0, cudaStreamPerThread>>>(y);
  if (!planted) cudaFreeAsync(y, cudaStreamPerThread);
}
FAULT(null_pointer, "a kernel stores to an allocation of 0 bytes", "memcheck", "store_one") {
  store_one<<<1, 1>>>(undefined(planted ? 0 : 1));
}
FAULT(pageable_pointer, "a kernel uses memory of the host's `malloc()`", "memcheck", "store_one") {
  auto* host = static_cast<int*>(std::malloc(sizeof(int)));
  store_one<<<1, 1>>>(planted ? host : zeros(1));
  cudaDeviceSynchronize();
  std::free(host);
}

__global__ void heap(int* y, bool freed, int index, int frees) {
  auto* own = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) own[i] = i;
  if (freed) free(own);
  *y = own[index];                            // own
  for (int i = 0; i < frees; ++i) free(own);  // double_free_in_a_kernel
}
FAULT(use_of_freed_heap, "a kernel reads memory after `free()`", "memcheck", "own") {
  heap<<<1, 1>>>(zeros(1), planted, 0, planted ? 0 : 1);
}
FAULT(heap_off_by_one, "a load past `malloc()`'s memory in a kernel", "memcheck", "own") {
  heap<<<1, 1>>>(zeros(1), false, planted ? 4 : 3, 1);
}
FAULT(double_free_in_a_kernel, "`free()` twice", "memcheck") {
  heap<<<1, 1>>>(zeros(1), false, 0, planted ? 2 : 1);
}

__device__ int first_table[32], second_table[32];
__constant__ int first_factors[32], second_factors[32];
__global__ void tables(int* y, int at) {
  y[threadIdx.x] = first_table[threadIdx.x + at];  // variable_to_the_next_one
  second_table[threadIdx.x] = y[threadIdx.x];
}
FAULT(variable_to_the_next_one, "an index past a `__device__` variable, inside the next variable",
      "memcheck") {
  tables<<<1, 32>>>(zeros(32), planted ? 64 : 0);
}
__global__ void factors(int* y, int at) {
  const int i = threadIdx.x;
  y[i] = first_factors[i + at] * second_factors[i];  // constant_to_the_next_one
}
FAULT(constant_to_the_next_one, "an index past the end of a `__constant__` variable", "memcheck") {
  factors<<<1, 32>>>(zeros(32), planted ? 1 : 0);
}
__global__ void by_pointer(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // past_a_variable
}
FAULT(past_a_variable, "a pointer past the end of a `__device__` variable", "memcheck") {
  void* x = nullptr;
  cudaGetSymbolAddress(&x, first_table);
  by_pointer<<<1, planted ? 64 : 32>>>(static_cast<const int*>(x), zeros(64));
}

__global__ void local_array(int* y, int at) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = y[i];
  own[at] += 1;  // local_off_by_one
  for (int i = 0; i < 8; ++i) y[i] = own[(i + at) % 8];
}
FAULT(local_off_by_one, "an index past the end of an array in local memory", "memcheck") {
  local_array<<<1, 1>>>(zeros(8), planted ? 8 : 7);
}

__global__ void branch_by(int* y, const int* x) {
  if (x[threadIdx.x] > 3) y[threadIdx.x] = 1;  // undefined_branch
}
FAULT(undefined_branch, "a branch that depends on uninitialised memory", "initcheck") {
  branch_by<<<1, 32>>>(zeros(32), planted ? undefined(32) : zeros(32));
}

__global__ void gather(int* y, const int* index, const int* x) {
  y[threadIdx.x] = x[index[threadIdx.x] & 31];  // undefined_address
}
FAULT(undefined_address, "an uninitialised index", "initcheck") {
  gather<<<1, 32>>>(zeros(32), planted ? undefined(32) : zeros(32), zeros(32));
}

__global__ void copy(int* y, const int* x) { y[threadIdx.x] = x[threadIdx.x]; }  // copy
FAULT(undefined_store, "an uninitialised element, stored as a result", "initcheck", "copy") {
  copy<<<1, 32>>>(zeros(32), planted ? undefined(32) : zeros(32));
}
FAULT(memset_of_elements, "`cudaMemset()` with a size in elements instead of bytes", "initcheck",
      "copy") {
  int* x = undefined(32);
  cudaMemset(x, 0, planted ? 32 : 32 * sizeof(int));
  copy<<<1, 32>>>(zeros(32), x);
}
FAULT(copied_undefined, "a copy of uninitialised memory", "initcheck", "copy") {
  int* x = undefined(32);
  cudaMemcpy(x, planted ? undefined(32) : zeros(32), 32 * sizeof(int), cudaMemcpyDeviceToDevice);
  copy<<<1, 32>>>(zeros(32), x);
}

__global__ void padded(int* y, const int* x, int valid) {
  const int value = x[threadIdx.x];
  y[threadIdx.x] = threadIdx.x < valid ? value : 0;
}
FAULT(dropped_padding, "padding is loaded and discarded: no fault", "none") {
  int* x = undefined(32);
  cudaMemset(x, 0, 80);
  padded<<<1, 32>>>(zeros(32), x, planted ? 20 : 10);
}

__global__ void largest(int* y, const int* x, int n) {
  int best[1];
  for (int i = threadIdx.x; i < n; i += 32) best[0] = i < 32 || x[i] > best[0] ? x[i] : best[0];
  y[threadIdx.x] = best[0];  // undefined_variable
}
FAULT(undefined_variable, "a variable that no iteration of a loop sets", "initcheck") {
  largest<<<1, 32>>>(zeros(32), zeros(64), planted ? 20 : 64);
}

__global__ void mask_of(int* y, const unsigned* mask) {
  y[threadIdx.x] =
      __shfl_sync(mask[threadIdx.x], static_cast<int>(threadIdx.x), 0);  // undefined_mask
}
FAULT(undefined_mask, "an uninitialised mask", "initcheck, synccheck") {
  unsigned* mask = undefined<unsigned>(32);
  if (!planted) cudaMemset(mask, 0xff, 32 * sizeof(unsigned));
  mask_of<<<1, 32>>>(zeros(32), mask);
}
