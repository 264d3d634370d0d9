# SPDX-License-Identifier: Apache-2.0
import cupy as cp
import tvm_ffi

ops = tvm_ffi.load_module("build/libgpu_ops.so")
x = cp.arange(10000, dtype="float32") % 3
y = cp.empty_like(x)
ops.cumsum(y, x)
print(y[:6], y[-1])
