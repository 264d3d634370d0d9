# SPDX-License-Identifier: Apache-2.0
import cupy as cp
import tvm_ffi.cpp
from kernkit import sdk

lib = tvm_ffi.cpp.load(
    "row_sum",
    cuda_files="row_sum.cu",
    extra_cuda_cflags=["-gencode=arch=compute_80,code=compute_80"],  # PTX: kernkit run executes it
    extra_include_paths=[str(sdk.sdk_folder() / "include")],
)
x = cp.arange(2000, dtype="float32").reshape(2, 1000)
y = cp.empty(2, "float32")
lib.row_sum(y, x)
print(y)
try:
    lib.row_sum(cp.empty(3, "float32"), x)
except ValueError as error:
    print(error)
