# SPDX-License-Identifier: Apache-2.0
"""A matrix product by Triton for compute capability 9.0, between operators of PyTorch: wgmma multiplies tiles that tensor
copies load and store. The program prints `right` if the results equal PyTorch's."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

TILE = 64


@triton.jit
def multiply(a, b, y, depth, TILE: tl.constexpr):
    row, column = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    sums = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, depth, TILE):
        sums = tl.dot(a.load([row, k]), b.load([k, column]), sums)
    y.store([row, column], sums.to(y.dtype))


def tiles(x):
    return TensorDescriptor.from_tensor(x, [TILE, TILE])


def product(a, b):
    """Returns a @ b with the type of a. The sizes need not be multiples of a tile."""
    (rows, depth), columns = a.shape, b.shape[1]
    y = torch.empty(rows, columns, device="cuda", dtype=a.dtype)
    grid = (triton.cdiv(rows, TILE), triton.cdiv(columns, TILE))
    compiled = multiply[grid](tiles(a), tiles(b), tiles(y), depth, TILE=TILE)
    for form in ("wgmma.mma_async", "cp.async.bulk.tensor", "mbarrier.try_wait"):
        assert form in compiled.asm["ptx"], f"the kernel has no {form}"
    return y


torch.manual_seed(3)
assert torch.cuda.get_device_capability() == (9, 0)
for dtype in (torch.float16, torch.bfloat16):
    x = torch.randn(100, 200, device="cuda", dtype=dtype)
    weights = torch.randn(200, 72, device="cuda", dtype=dtype)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = product(x.relu(), weights) + 1
    torch.cuda.current_stream().wait_stream(side)
    expected = x.float().relu() @ weights.float() + 1
    torch.testing.assert_close(y.float(), expected, rtol=2e-2, atol=1e-1)
print("right")
