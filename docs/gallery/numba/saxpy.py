# SPDX-License-Identifier: Apache-2.0
import numpy as np
from numba import cuda


@cuda.jit
def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


x = np.arange(1000, dtype=np.float32)
y = cuda.to_device(np.ones_like(x))
saxpy[8, 128](y, cuda.to_device(x), np.float32(2))
print(y.copy_to_host()[[0, 1, 999]])
