// SPDX-License-Identifier: Apache-2.0
// Faults between threads of a block.
#include <cuda_pipeline_primitives.h>

#include "faults.h"

__global__ void reverse(int* y, bool planted) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x + 1;  // missing_barrier 1
  if (!planted) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // missing_barrier 2
}
FAULT(missing_barrier, "no barrier between a store and later loads", "racecheck, initcheck") {
  reverse<<<1, 64>>>(zeros(64), planted);
}

__global__ void reverse_early(int* y, bool planted) {
  __shared__ int tile[64];
  if (planted) __syncthreads();
  tile[threadIdx.x] = threadIdx.x + 1;  // early_barrier 1
  if (!planted) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // early_barrier 2
}
FAULT(early_barrier, "a barrier before the store instead of after the store",
      "racecheck, initcheck") {
  reverse_early<<<1, 64>>>(zeros(64), planted);
}

__global__ void tiles(int* y, bool planted) {
  __shared__ int tile[64];
  for (int i = 0; i < 3; ++i) {
    tile[threadIdx.x] = threadIdx.x + i;  // barrier_missing_in_loop 2
    __syncthreads();
    y[threadIdx.x] += tile[63 - threadIdx.x];  // barrier_missing_in_loop 1
    if (!planted) __syncthreads();
  }
}
FAULT(barrier_missing_in_loop, "a tile is overwritten while it is read", "racecheck") {
  tiles<<<1, 64>>>(zeros(64), planted);
}

__global__ void sum_of_tree(int* y, bool planted) {
  __shared__ int sums[128];
  sums[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];  // tree_without_barrier
    if (!planted) __syncthreads();
  }
  if (threadIdx.x == 0) *y = sums[0];
}
FAULT(tree_without_barrier, "a tree of sums without a barrier between its steps", "racecheck") {
  sum_of_tree<<<1, 128>>>(zeros(1), planted);
}

__global__ void scan(int* y, bool planted) {
  __shared__ int sums[64];
  sums[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    const int left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;  // scan_in_place 1
    if (!planted) __syncthreads();
    sums[threadIdx.x] += left;  // scan_in_place 2
    __syncthreads();
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
FAULT(scan_in_place, "a scan stores elements that its neighbour still reads", "racecheck") {
  scan<<<1, 64>>>(zeros(64), planted);
}

__global__ void histogram(int* y, bool planted) {
  __shared__ int counts[4];
  if (threadIdx.x < 4) counts[threadIdx.x] = 0;
  __syncthreads();
  if (planted) {
    ++counts[threadIdx.x % 4];  // count_without_atomic
  } else {
    atomicAdd(&counts[threadIdx.x % 4], 1);
  }
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = counts[threadIdx.x];
}
FAULT(count_without_atomic, "counters of a block without atomics", "racecheck") {
  histogram<<<1, 64>>>(zeros(4), planted);
}

__global__ void total(int* y, bool planted) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);  // count_read_early 1
  if (!planted) __syncthreads();
  y[threadIdx.x] = count;  // count_read_early 2
}
FAULT(count_read_early, "a counter is read while other warps still add", "racecheck") {
  total<<<1, 64>>>(zeros(64), planted);
}

__global__ void broadcast(int* y, bool planted) {
  __shared__ int value;
  value = 1;
  __syncthreads();
  if (threadIdx.x == 0) value = 7;  // broadcast_without_barrier 1
  if (!planted) __syncthreads();
  y[threadIdx.x] = value;  // broadcast_without_barrier 2
}
FAULT(broadcast_without_barrier, "one thread stores a value that all warps read", "racecheck") {
  broadcast<<<1, 64>>>(zeros(64), planted);
}

__global__ void produce(int* y, bool planted) {
  __shared__ int tile[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    if (planted) asm volatile("bar.arrive 1, 64;" ::: "memory");
    tile[lane] = lane + 1;  // arrives_early 1
    if (!planted) asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[lane] = tile[lane];  // arrives_early 2
  }
}
FAULT(arrives_early, "a producer arrives at a numbered barrier before its store", "racecheck") {
  produce<<<1, 64>>>(zeros(32), planted);
}

__global__ void copy_of_another_warp(int* y, const int* x, bool planted) {
  __shared__ int tile[64];
  tile[threadIdx.x] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!planted) __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // async_copy_without_barrier
}
FAULT(async_copy_without_barrier, "`cp.async` of another warp, with a wait but without a barrier",
      "racecheck") {
  copy_of_another_warp<<<1, 64>>>(zeros(64), zeros(64), planted);
}

__global__ void copy_unwaited(int* y, const int* x, bool planted) {
  __shared__ int tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
  __pipeline_commit();
  if (!planted) __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[threadIdx.x];  // async_copy_without_wait
}
FAULT(async_copy_without_wait, "`cp.async` without a wait", "initcheck, racecheck") {
  copy_unwaited<<<1, 32>>>(zeros(32), zeros(32), planted);
}

__global__ void copy_waits_for_another(int* y, const int* x, bool planted) {
  __shared__ int tile[2][32];
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tile[i][threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
  }
  if (planted) {
    __pipeline_wait_prior(1);
  } else {
    __pipeline_wait_prior(0);
  }
  y[threadIdx.x] = tile[0][threadIdx.x];
  y[threadIdx.x] += tile[1][threadIdx.x];  // async_copy_of_a_later_group
}
FAULT(async_copy_of_a_later_group, "a wait that omits the group that is read",
      "initcheck, racecheck") {
  copy_waits_for_another<<<1, 32>>>(zeros(32), zeros(32), planted);
}

__global__ void neighbours(int* y, bool planted) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;  // warp_without_syncwarp 1
  if (!planted) __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x ^ 1];  // warp_without_syncwarp 2
}
FAULT(warp_without_syncwarp, "lanes read values of other lanes of the warp, without `__syncwarp()`",
      "racecheck, warn") {
  neighbours<<<1, 32>>>(zeros(32), planted);
}

__global__ void neighbours_by_shuffle(int* y, bool planted) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;  // shuffle_for_syncwarp 1
  const int more = __shfl_xor_sync(0xffffffff, static_cast<int>(threadIdx.x), 2);
  if (!planted) __syncwarp();
  y[threadIdx.x] = tile[threadIdx.x ^ 1] + more;  // shuffle_for_syncwarp 2
}
FAULT(shuffle_for_syncwarp, "a shuffle instead of `__syncwarp()`", "racecheck, warn") {
  neighbours_by_shuffle<<<1, 32>>>(zeros(32), planted);
}

__global__ void halves(int* y, bool planted) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;  // syncwarp_of_a_half 1
  __syncwarp(planted ? 0xffffu << (threadIdx.x & 16) : 0xffffffffu);
  y[threadIdx.x] = tile[31 - threadIdx.x];  // syncwarp_of_a_half 2
}
FAULT(syncwarp_of_a_half, "`__syncwarp()` of half a warp, and lanes read from the other half",
      "racecheck, warn") {
  halves<<<1, 32>>>(zeros(32), planted);
}

__global__ void warp_sum(int* y, bool planted) {
  __shared__ int sums[32];
  sums[threadIdx.x] = threadIdx.x + 1;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    const int other = sums[(threadIdx.x + half) % 32];  // warp_tree_without_syncwarp 1
    if (!planted) __syncwarp();
    sums[threadIdx.x] += other;  // warp_tree_without_syncwarp 2
    __syncwarp();
  }
  y[threadIdx.x] = sums[threadIdx.x];
}
FAULT(warp_tree_without_syncwarp, "a sum of a warp that assumes that lanes run in lockstep",
      "racecheck, warn") {
  warp_sum<<<1, 32>>>(zeros(32), planted);
}

__global__ void shared_end(int* y, bool planted) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = tile[(threadIdx.x + 1) % (planted ? 65 : 64)];  // shared_off_by_one
}
FAULT(shared_off_by_one, "a load past the end of an array in shared memory", "memcheck") {
  shared_end<<<1, 64>>>(zeros(64), planted);
}

__global__ void two_arrays(int* y, int at) {
  __shared__ int left[32], right[32];
  left[threadIdx.x] = threadIdx.x;
  right[threadIdx.x] = 2 * threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = right[threadIdx.x] + left[31 - threadIdx.x + at];  // shared_to_the_next_one
}
FAULT(shared_to_the_next_one, "an index past an array in shared memory, inside the next array",
      "memcheck") {
  two_arrays<<<1, 32>>>(zeros(32), planted ? 1 : 0);
}

__global__ void dynamic_rows(int* y) {
  extern __shared__ int rows[];
  rows[threadIdx.x] = threadIdx.x;  // too_little_dynamic_shared
  __syncthreads();
  y[threadIdx.x] = rows[63 - threadIdx.x];
}
FAULT(too_little_dynamic_shared, "shared memory sized in elements instead of bytes", "memcheck") {
  dynamic_rows<<<1, 64, planted ? 64 : 64 * sizeof(int)>>>(zeros(64));
}

__global__ void row_matters(int* y, const int* x, bool planted) {
  __shared__ int tile[64];
  if (!planted || threadIdx.x < 63) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // undefined_shared_row
}
FAULT(undefined_shared_row, "an uninitialised row of shared memory, stored as a result",
      "initcheck") {
  row_matters<<<1, 64>>>(zeros(64), zeros(64), planted);
}

__global__ void row_is_dropped(int* y, const int* x, int valid) {
  __shared__ int tile[64];
  if (threadIdx.x < valid) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const int value = 3 * tile[63 - threadIdx.x];
  y[threadIdx.x] = 63 - threadIdx.x < valid ? value : 0;
}
FAULT(dropped_shared_row, "an uninitialised row whose result is discarded: no fault", "none") {
  row_is_dropped<<<1, 64>>>(zeros(64), zeros(64), planted ? 40 : 64);
}

__global__ void sum_in_shared(int* y, bool planted) {
  __shared__ int sum;
  if (!planted && threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
  __syncthreads();
  if (threadIdx.x == 0) *y = sum;  // sum_starts_undefined
}
FAULT(sum_starts_undefined, "a sum in shared memory with an uninitialised initial value",
      "initcheck") {
  sum_in_shared<<<1, 64>>>(zeros(1), planted);
}

__global__ void diverged_barrier_of(int* y, bool planted) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  if (!planted || threadIdx.x < 32) __syncthreads();  // diverged_barrier
  y[threadIdx.x] = tile[threadIdx.x];
}
FAULT(diverged_barrier, "a barrier that one warp does not reach", "synccheck, warn") {
  diverged_barrier_of<<<1, 64>>>(zeros(64), planted);
}

__global__ void guarded(int* y, int n) {
  if (threadIdx.x >= n) return;
  y[threadIdx.x] = 1;
  __syncthreads();  // return_before_barrier
  y[threadIdx.x] += 1;
}
FAULT(return_before_barrier, "threads return before a barrier", "synccheck, warn") {
  guarded<<<1, 64>>>(zeros(64), planted ? 40 : 64);
}

__global__ void uneven(int* y, bool planted) {
  const int rounds = planted && threadIdx.x >= 32 ? 2 : 3;
  for (int i = 0; i < rounds; ++i) __syncthreads();  // barrier_in_uneven_loop
  y[threadIdx.x] = rounds;
}
FAULT(barrier_in_uneven_loop, "warps run different numbers of rounds with a barrier",
      "synccheck, warn") {
  uneven<<<1, 64>>>(zeros(64), planted);
}

__global__ void two_barriers(int* y, bool planted) {
  int any = 0;
  if (planted && threadIdx.x < 32) {
    __syncthreads();
  } else {
    any = __syncthreads_or(threadIdx.x == 40);  // barriers_of_two_kinds
  }
  y[threadIdx.x] = any;
}
FAULT(barriers_of_two_kinds, "warps wait at different barrier functions", "synccheck") {
  two_barriers<<<1, 64>>>(zeros(64), planted);
}

__global__ void short_count(int* y, bool planted) {
  if (planted && threadIdx.x >= 32) return;
  asm volatile("bar.sync 1, 64;" ::: "memory");  // count_of_a_warp_that_ended
  y[threadIdx.x] = 1;
}
FAULT(count_of_a_warp_that_ended,
      "a numbered barrier whose count includes a warp that has returned", "synccheck") {
  short_count<<<1, 64>>>(zeros(64), planted);
}

__global__ void barrier_count(int* y, bool planted) {
  if (threadIdx.x < 32 || !planted) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");  // barrier_of_two_counts
  }
  y[threadIdx.x] = 1;
}
FAULT(barrier_of_two_counts, "a numbered barrier with two different thread counts", "synccheck") {
  barrier_count<<<1, 64>>>(zeros(64), planted);
}

__global__ void shuffles(int* y, unsigned mask) {
  y[threadIdx.x] =
      __shfl_xor_sync(mask, static_cast<int>(threadIdx.x), 1);  // mask_lacks_the_caller
}
FAULT(mask_lacks_the_caller, "a shuffle whose mask lacks lanes that call it", "synccheck") {
  shuffles<<<1, 32>>>(zeros(32), planted ? 0x0000ffff : 0xffffffff);
}

__global__ void tail(int* y, int n) {
  int value = threadIdx.x;
  value = __shfl_down_sync(0xffffffff, value, 1);
  if (threadIdx.x >= n) return;
  value += __shfl_xor_sync(0xffffffff, value, 1);
  y[threadIdx.x] = value;
}
FAULT(mask_names_ended_lanes, "a shuffle whose mask includes lanes that have returned: no fault",
      "none") {
  tail<<<1, 32>>>(zeros(32), planted ? 20 : 32);
}

__global__ void branches(int* y, bool planted) {
  if (threadIdx.x < 16) {
    __syncwarp(planted ? 0xffffffff : 0xffff);  // mask_names_lanes_elsewhere
    y[threadIdx.x] = 1;
  } else {
    __syncthreads();
  }
  if (threadIdx.x < 16) __syncthreads();
}
FAULT(mask_names_lanes_elsewhere, "`__syncwarp()` with lanes that wait at another call",
      "synccheck") {
  branches<<<1, 32>>>(zeros(32), planted);
}
