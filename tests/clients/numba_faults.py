# SPDX-License-Identifier: Apache-2.0
"""Kernels of Numba with faults that the command line switches on: kernkit sanitize python numba_faults.py fault KERNEL"""

import gc

import numpy as np
import planted
from numba import cuda, float32
from numba.cuda.cudadrv.driver import CudaAPIError


def arange(count):
    return cuda.to_device(np.arange(count, dtype=np.float32))


@cuda.jit(lineinfo=True)
def copy(x, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i]  # FAULT read_out_of_bounds


def read_out_of_bounds(has_fault):
    copy[1, 160](arange(128), arange(160), 160 if has_fault else 128)
    cuda.synchronize()


@cuda.jit(lineinfo=True)
def double(x):
    x[cuda.grid(1)] *= 2  # FAULT freed_memory


def freed_memory(has_fault):
    owner = arange(128)
    borrowed = cuda.from_cuda_array_interface(owner.__cuda_array_interface__)
    if has_fault:
        del owner
        gc.collect()
        cuda.current_context().memory_manager.deallocations.clear()
    double[1, 128](borrowed)
    cuda.synchronize()


# [race]
@cuda.jit(lineinfo=True)
def reverse(x, out, with_barrier):
    shared = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    shared[i] = x[i]
    if with_barrier:
        cuda.syncthreads()
    out[i] = shared[127 - i]  # FAULT missing_barrier
# [/race]


def missing_barrier(has_fault):
    reverse[1, 128](arange(128), arange(128), not has_fault)
    cuda.synchronize()


@cuda.jit(lineinfo=True)
def warp_sum(x, mask):
    value = x[cuda.threadIdx.x]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(mask, value, offset)  # FAULT wrong_mask
    x[cuda.threadIdx.x] = value


def wrong_mask(has_fault):
    warp_sum[1, 32](arange(32), 0xFFFF if has_fault else 0xFFFFFFFF)
    cuda.synchronize()


@cuda.jit(lineinfo=True)
def add_neighbour(x, filled):
    shared = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    if i < filled:
        shared[i] = x[i]
    cuda.syncthreads()
    x[i] = shared[i] + shared[i ^ 1]  # FAULT uninitialised_shared_memory


def uninitialised_shared_memory(has_fault):
    add_neighbour[1, 64](arange(64), 48 if has_fault else 64)
    cuda.synchronize()


if __name__ == "__main__":
    kernels = (read_out_of_bounds, freed_memory, missing_barrier, wrong_mask, uninitialised_shared_memory)
    planted.run({kernel.__name__: kernel for kernel in kernels}, CudaAPIError)
