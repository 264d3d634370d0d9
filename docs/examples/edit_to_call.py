# SPDX-License-Identifier: Apache-2.0
"""Compiles a kernel's file, loads it and calls it. From the root of the repository:

    .venv/bin/python docs/examples/edit_to_call.py
"""

# [cpu]
import pathlib

import numpy as np
import tvm_ffi.cpp

SDK = pathlib.Path("sdk").resolve()
ARITHMETIC = ["-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
OPTIONS = {
    "extra_cflags": ["-DKERNKIT_COMPILED", "-fvisibility=hidden", *ARITHMETIC],
    "extra_include_paths": [str(SDK / "include")],
}


def load(file):
    # The SDK's cold code, such as error messages. The first call compiles this code; later calls use the cached object
    # file.
    cold = tvm_ffi.cpp.build("kernkit", cpp_files=str(SDK / "src/kernkit.cc"), output="kernkit.o", **OPTIONS)
    return tvm_ffi.cpp.load("leaky_relu", cpp_files=str(file), extra_ldflags=[cold], **OPTIONS)


lib = load("docs/examples/leaky_relu.cc")
x = np.array([-2, -1, 0, 1, 2], dtype="float32")
y = np.empty_like(x)
lib.leaky_relu(y, x, 0.5)
print(y)  # [-1.  -0.5  0.   1.   2. ]
# [/cpu]


# [cuda]
def load_cuda(file):
    return tvm_ffi.cpp.load("leaky_relu", cuda_files=str(file), extra_include_paths=[str(SDK / "include")])
# [/cuda]
