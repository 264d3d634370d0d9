# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton with faults that the command line switches on: kernkit sanitize python triton_faults.py fault KERNEL"""

import ctypes

import numpy as np
import planted
import triton
import triton.language as tl
from managed import Array, call, synchronize


class Uninitialised(Array):
    """Uninitialised device memory. Managed memory cannot be used here, because the tools treat managed memory as
    initialised."""

    def __init__(self, count):
        super().__init__(np.zeros(count, np.float32))
        address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4 * count))
        self.address = address.value


# [fault]
@triton.jit
def scale(x, n, factor, SIZE: tl.constexpr, LIMIT: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + i, mask=i < n)
    tl.store(x + i, value * factor, mask=i < LIMIT)  # FAULT store_out_of_bounds


def store_out_of_bounds(has_fault):
    x = Array(np.arange(200, dtype=np.float32))
    scale[(2,)](x, 200, 2.5, SIZE=128, LIMIT=256 if has_fault else 200)
    synchronize()
    # [/fault]


@triton.jit
def shift(x, out, n, SIZE: tl.constexpr, LIMIT: tl.constexpr):
    i = tl.arange(0, SIZE)
    value = tl.load(x + i + 1, mask=i < LIMIT)  # FAULT load_out_of_bounds
    tl.store(out + i, value, mask=i < n)


def load_out_of_bounds(has_fault):
    x, out = Array(np.arange(200, dtype=np.float32)), Array(np.zeros(200, np.float32))
    shift[(1,)](x, out, 200, SIZE=256, LIMIT=200 if has_fault else 199)
    synchronize()


@triton.jit
def count(total, ATOMIC: tl.constexpr):
    if ATOMIC:
        tl.atomic_add(total, 1)
    else:
        tl.store(total, tl.load(total) + 1)  # FAULT race_of_programs


def race_of_programs(has_fault):
    count[(4,)](Array(np.zeros(1, np.int32)), ATOMIC=not has_fault, num_warps=1)
    synchronize()


@triton.jit
def accumulate(x, out, SIZE: tl.constexpr, FIRST: tl.constexpr):
    i = tl.arange(0, SIZE)
    value = tl.load(x + i)
    if not FIRST:
        value += tl.load(out + i)
    tl.store(out + i, value)  # FAULT uninitialised_memory


def uninitialised_memory(has_fault):
    x, out = Array(np.arange(128, dtype=np.float32)), Uninitialised(128)
    accumulate[(1,)](x, out, SIZE=128, FIRST=not has_fault)
    accumulate[(1,)](x, out, SIZE=128, FIRST=False)
    synchronize()


if __name__ == "__main__":
    kernels = (store_out_of_bounds, load_out_of_bounds, race_of_programs, uninitialised_memory)
    planted.run({kernel.__name__: kernel for kernel in kernels}, RuntimeError)
