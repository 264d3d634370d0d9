import numpy as np
import tvm_ffi

lib = tvm_ffi.load_module("build/release/lib/libkernkit_kernels.so")
x = np.arange(4, dtype="float32")
y = np.empty_like(x)
lib.scale(y, x, 2.0)
print(y)  # [0. 2. 4. 6.]
