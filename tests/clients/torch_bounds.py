# SPDX-License-Identifier: Apache-2.0
"""Accesses past a tensor inside of a block of PyTorch's caching allocator, switched on by the command line:

    kernkit sanitize python torch_bounds.py fault|correct NAME
"""

import planted
import torch
import triton
import triton.language as tl


@triton.jit
def copy(y, x, n, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    i = FIRST + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)  # FAULT load_past_the_end
    tl.store(y + i, value, mask=i < n)


@triton.jit
def fill(y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, 1.0, mask=i < n)  # FAULT store_in_a_graph store_to_freed_memory


def load_past_the_end(has_fault):
    x, y = torch.ones(100, device="cuda"), torch.empty(128, device="cuda")
    copy[(1,)](y, x, 101 if has_fault else 100, FIRST=0, BLOCK=128)
    return y[:100].tolist() == [1] * 100


def store_in_a_graph(has_fault):
    y = torch.zeros(100, device="cuda")
    fill[(1,)](y, 100, BLOCK=128)  # compiles
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = y + 1
        fill[(1,)](z, 101 if has_fault else 100, BLOCK=128)
        w = z * 3
        del z  # the graph owns the memory of z, which each replay uses
    for _ in range(2):
        graph.replay()
    return w.tolist() == [3] * 100


def store_to_freed_memory(has_fault):
    kept = torch.zeros(1000, device="cuda")  # while this tensor exists, the allocation that also contains y is not freed
    y = torch.zeros(100, device="cuda")
    address = y.as_strided((100,), (1,))
    interface = Pointer(address.data_ptr())
    fill[(1,)](interface, 100, BLOCK=128)  # a valid store, because the tensor still exists
    del y, address
    if has_fault:
        torch.cuda.synchronize()
        fill[(1,)](interface, 100, BLOCK=128)
    return kept.sum().item() == 0


class Pointer:
    """A raw pointer to float32, which keeps no tensor alive."""

    dtype = torch.float32

    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


def memory_of_other_streams(_):
    """Frees tensors before the streams that use the tensors have run their work. All accesses are valid, because
    PyTorch reuses the memory only after this work."""
    side = torch.cuda.Stream()
    total = torch.zeros(100, device="cuda")
    for i in range(20):
        x = torch.full((100,), float(i), device="cuda")
        y = torch.empty(100, device="cuda")
        copy[(1,)](y, x, 100, FIRST=0, BLOCK=128)
        del x
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = torch.empty(100, device="cuda")
            copy[(1,)](z, y, 100, FIRST=0, BLOCK=128)
            y.record_stream(side)
            total += z
        torch.cuda.current_stream().wait_stream(side)
        z.record_stream(torch.cuda.current_stream())
        del y, z
    return total.tolist() == [190] * 100


def out_of_memory(_):
    try:
        torch.empty(1 << 42, device="cuda")
    except torch.OutOfMemoryError:
        return torch.ones(3, device="cuda").sum().item() == 3
    return False


FUNCTIONS = {function.__name__: function for function in (
    load_past_the_end, store_in_a_graph, store_to_freed_memory, memory_of_other_streams, out_of_memory)}  # fmt: skip
if __name__ == "__main__":
    planted.run({name: lambda fault, function=function: print(name) if not function(fault) and not fault else None
                 for name, function in FUNCTIONS.items()}, torch.AcceleratorError)  # fmt: skip
