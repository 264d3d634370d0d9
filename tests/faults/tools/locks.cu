// SPDX-License-Identifier: Apache-2.0
// Faults of locks and guards between blocks.
#include "faults.h"

enum LockKind { kFenced, kNoRelease, kReleaseOfBlock, kNoAcquire };

__global__ void add_locked(int* x, int* lock, int kind) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  if (kind != kNoAcquire) __threadfence();
  *x += 1;  // locked
  if (kind == kReleaseOfBlock) {
    __threadfence_block();
  } else if (kind != kNoRelease) {
    __threadfence();
  }
  atomicExch(lock, 0);
}
FAULT(lock_without_release, "a lock is released without a fence", "racecheck", "locked") {
  add_locked<<<3, 32>>>(zeros(1), zeros(1), planted ? kNoRelease : kFenced);
}
FAULT(lock_with_block_fence, "a lock between blocks, with `__threadfence_block()`", "racecheck",
      "locked") {
  add_locked<<<3, 32>>>(zeros(1), zeros(1), planted ? kReleaseOfBlock : kFenced);
}
FAULT(lock_without_acquire, "a lock is taken without a fence", "racecheck, warn", "locked") {
  add_locked<<<3, 32>>>(zeros(1), zeros(1), planted ? kNoAcquire : kFenced);
}

__global__ void one_block_without_lock(int* x, int* lock, bool planted) {
  if (threadIdx.x != 0) return;
  const bool locks = !planted || blockIdx.x == 0;
  while (locks && atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *x += 1;  // without_lock
  __threadfence();
  if (locks) atomicExch(lock, 0);
}
FAULT(without_lock, "one of two blocks does not take the lock", "racecheck") {
  one_block_without_lock<<<2, 32>>>(zeros(1), zeros(1), planted);
}

__global__ void keep_largest(int* best, bool planted) {
  const int value = static_cast<int>(blockIdx.x) + 1;
  if (threadIdx.x != 0) return;
  if (planted) {
    if (*best < value) *best = value;  // guard_without_atomic
  } else {
    atomicMax(best, value);
  }
}
FAULT(guard_without_atomic, "a maximum is updated by a comparison and a store", "racecheck") {
  keep_largest<<<3, 32>>>(zeros(1), planted);
}

__global__ void stores_zero(int* y, int* x, bool planted) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *x = 0;  // store_of_equal_value 1
  } else if (planted) {
    *y = *x;  // store_of_equal_value 2
  }
}
FAULT(store_of_equal_value, "a block reads a word to which another block stores its old value",
      "racecheck") {
  stores_zero<<<2, 32>>>(zeros(1), zeros(1), planted);
}

__global__ void sum_of_pairs(int* sum, const int* x, bool planted) {
  if (threadIdx.x != 0) return;
  const int last = planted ? gridDim.x : gridDim.x - 1;
  const int value = x[min(static_cast<int>(blockIdx.x) + 1, last)];
  if (planted) {
    *sum += value;  // race_beside_invalid_access
  } else {
    atomicAdd(sum, value);
  }
}
FAULT(race_beside_invalid_access, "a race in a kernel with a load past the end",
      "racecheck, memcheck") {
  sum_of_pairs<<<3, 32>>>(zeros(1), zeros(3), planted);
}

__global__ void add_locked_by_scope(int* x, int* lock, bool planted) {
  if (threadIdx.x != 0) return;
  while ((planted ? atomicCAS_block(lock, 0, 1) : atomicCAS(lock, 0, 1)) != 0) {
  }
  __threadfence();
  *x += 1;  // lock_of_block_scope
  __threadfence();
  if (planted) {
    atomicExch_block(lock, 0);
  } else {
    atomicExch(lock, 0);
  }
}
FAULT(lock_of_block_scope, "a lock between blocks, by atomics of block scope", "racecheck") {
  add_locked_by_scope<<<3, 32>>>(zeros(1), zeros(1), planted);
}

__global__ void add_locked_by_warps(int* x, bool planted) {
  __shared__ int lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS_block(&lock, 0, 1) != 0) {
  }
  __threadfence_block();
  *x += 1;  // lock_of_warps
  if (!planted) __threadfence_block();
  atomicExch_block(&lock, 0);
}
FAULT(lock_of_warps, "a lock between warps of a block is released without a fence", "racecheck") {
  add_locked_by_warps<<<1, 128>>>(zeros(1), planted);
}

__global__ void sets(int* x, bool planted) {
  if (threadIdx.x != 0) return;
  if (planted && blockIdx.x == 1) {
    *x = 5;  // store_and_atomic
  } else {
    atomicExch(x, 7);
  }
}
FAULT(store_and_atomic, "a block stores without an atomic, and another block by an atomic",
      "racecheck") {
  sets<<<2, 32>>>(zeros(1), planted);
}

__global__ void shorten_paths(int* parents, bool planted) {
  const int node = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  int root = node;
  if (planted) {
    while (parents[root] < root) root = parents[root];  // paths_without_atomics 1
    parents[node] = root;                               // paths_without_atomics 2
  } else {
    for (int next; (next = atomicAdd(&parents[root], 0)) < root;) root = next;
    atomicExch(&parents[node], root);
  }
}
FAULT(paths_without_atomics, "threads shorten paths that other threads follow, without atomics",
      "racecheck") {
  shorten_paths<<<2, 32>>>(zeros(64), planted);
}
