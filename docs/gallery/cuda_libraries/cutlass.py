# SPDX-License-Identifier: Apache-2.0
import cupy as cp
import numpy as np
import tvm_ffi

ops = tvm_ffi.load_module("build/libgpu_ops.so")
rng = np.random.default_rng(0)
a, b = rng.integers(-3, 4, (40, 64)), rng.integers(-3, 4, (48, 64))
c = cp.empty((40, 48), "float16")
ops.gemm(c, cp.asarray(a, "float16"), cp.asarray(b, "float16"))
print(np.array_equal(c.get(), a @ b.T))
