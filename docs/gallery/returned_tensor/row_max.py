# SPDX-License-Identifier: Apache-2.0
import torch
import tvm_ffi.cpp
from kernkit import sdk

headers = str(sdk.sdk_folder() / "include")
lib = tvm_ffi.cpp.load("row_max", cpp_files="row_max.cc", extra_include_paths=[headers])
values, indices = lib.row_max(torch.tensor([[1.0, 3.0, 2.0], [6.0, 4.0, 5.0]]))
print(values, indices)
