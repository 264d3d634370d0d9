# SPDX-License-Identifier: Apache-2.0
import torch
import tvm_ffi

ops = tvm_ffi.load_module("build/libgpu_ops.so")
x = torch.arange(10000.0) % 3
y = torch.empty(10000, device="cuda")
ops.cumsum(y, x.cuda())
print(torch.equal(y.cpu(), x.cumsum(0)))
