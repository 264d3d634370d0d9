# SPDX-License-Identifier: Apache-2.0
import torch
import tvm_ffi

ops = tvm_ffi.load_module("build/libgpu_ops.so")

x = torch.arange(10000.0) % 3
y = torch.empty(10000, device="cuda")
ops.cumsum(y, x.cuda())
print("CUB:", torch.equal(y.cpu(), x.cumsum(0)))

a, b = torch.randint(-3, 4, (40, 64)).half(), torch.randint(-3, 4, (48, 64)).half()
c = torch.empty(40, 48, dtype=torch.half, device="cuda")
ops.gemm(c, a.cuda(), b.cuda())
print("CUTLASS:", torch.equal(c.cpu(), a @ b.T))
