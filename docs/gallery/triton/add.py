# SPDX-License-Identifier: Apache-2.0
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


x = torch.arange(1000.0)
y = torch.ones(1000)
out = torch.empty(1000, device="cuda")
add[(triton.cdiv(1000, 256),)](x.cuda(), y.cuda(), out, 1000, BLOCK=256)
print(torch.equal(out.cpu(), x + y))
