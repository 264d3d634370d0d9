# SPDX-License-Identifier: Apache-2.0
"""Arrays for Triton without a framework, in managed memory of the driver, to which NumPy and kernels have access."""

import ctypes

import numpy as np
import triton.language as tl

driver = ctypes.CDLL("libcuda.so.1")
ATTACH_GLOBAL = 1  # CU_MEM_ATTACH_GLOBAL
TYPES = {np.dtype(np.float32): tl.float32, np.dtype(np.float64): tl.float64, np.dtype(np.float16): tl.float16,
         np.dtype(np.int8): tl.int8, np.dtype(np.int32): tl.int32, np.dtype(np.int64): tl.int64,
         np.dtype(np.uint32): tl.uint32, np.dtype(np.uint8): tl.uint8}  # fmt: skip


def call(name, *arguments):
    """Calls a function of the driver. Raises RuntimeError if the function returns an error."""
    if code := getattr(driver, name)(*arguments):
        raise RuntimeError(f"{name}() returned CUresult {code}")


def synchronize():
    call("cuCtxSynchronize")


class Array:
    """A copy of a NumPy array in managed memory. Triton reads data_ptr() and dtype; `values` is a NumPy view, which is
    valid while the object lives. `dtype` is needed for types that NumPy lacks, such as bfloat16 as uint16."""

    def __init__(self, values, dtype=None):
        values = np.ascontiguousarray(values)
        self.dtype = dtype or TYPES[values.dtype]
        context, address = ctypes.c_void_p(), ctypes.c_uint64()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(max(values.nbytes, 1)), ATTACH_GLOBAL)
        self.address = address.value
        memory = (ctypes.c_byte * values.nbytes).from_address(self.address)
        self.values = np.frombuffer(memory, values.dtype).reshape(values.shape)
        self.values[...] = values

    def data_ptr(self):
        return self.address

    def numpy(self):
        """Waits until all kernels have ended, and returns a copy of the values."""
        synchronize()
        return self.values.copy()

    def __del__(self):
        driver.cuMemFree_v2(ctypes.c_uint64(self.address))


def zeros(shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))
