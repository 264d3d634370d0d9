# SPDX-License-Identifier: Apache-2.0
"""Mistakes with streams and bounds in programs that use PyTorch, switched on by the command line:

    kernkit sanitize python torch_faults.py fault NAME
    kernkit run --seed 3 python torch_faults.py repeat NAME   # counts wrong results of 20 calls
"""

import sys

import planted
import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)  # FAULT kernel_does_not_wait
    tl.store(y + i, value * 2, mask=i < n)


# [bounds]
@triton.jit
def halve(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(y + i, value / 2, mask=i < LIMIT)  # FAULT store_past_the_end


def store_past_the_end(has_fault):
    x, y = torch.ones(100, device="cuda"), torch.empty(100, device="cuda")
    halve[(1,)](x, y, 100, LIMIT=101 if has_fault else 100, BLOCK=128)
    torch.cuda.synchronize()
    return y.tolist() == [0.5] * 100
# [/bounds]


# [wait]
def operator_does_not_wait(has_fault):
    x = torch.zeros(100, device="cuda")
    side = torch.cuda.Stream()
    x += 1
    if not has_fault:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2  # FAULT operator_does_not_wait
    side.synchronize()
    return y.tolist() == [2] * 100
# [/wait]


def kernel_does_not_wait(has_fault):
    x, y = torch.zeros(100, device="cuda"), torch.empty(100, device="cuda")
    side = torch.cuda.Stream()
    x += 1
    if not has_fault:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        double[(1,)](x, y, 100, BLOCK=128)
    side.synchronize()
    return y.tolist() == [2] * 100


def stream_does_not_wait_back(has_fault):
    x = torch.ones(100, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x *= 3
    if not has_fault:
        torch.cuda.current_stream().wait_stream(side)
    y = x + 1  # FAULT stream_does_not_wait_back
    torch.cuda.synchronize()
    return y.tolist() == [4] * 100


def event_is_recorded_too_early(has_fault):
    x = torch.zeros(100, device="cuda")
    side, done = torch.cuda.Stream(), torch.cuda.Event()
    if has_fault:
        done.record()
    x += 1
    if not has_fault:
        done.record()
    side.wait_event(done)
    with torch.cuda.stream(side):
        y = x * 2  # FAULT event_is_recorded_too_early
    side.synchronize()
    return y.tolist() == [2] * 100


def tensor_is_freed_early(has_fault):
    x = torch.ones(100, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    if not has_fault:
        x.record_stream(side)
    del x
    other = torch.full((100,), 9.0, device="cuda")  # FAULT tensor_is_freed_early
    torch.cuda.synchronize()
    return y.tolist() == [2] * 100 and other[0].item() == 9


def pinned_memory_is_reused(has_fault):
    host = torch.ones(100).pin_memory()
    x = host.to("cuda", non_blocking=True)
    if not has_fault:
        torch.cuda.current_stream().synchronize()
    host.fill_(7)
    return (x * 2).tolist() == [2] * 100


def pinned_memory_is_read_early(has_fault):
    host = torch.zeros(100).pin_memory()
    host.copy_(torch.ones(100, device="cuda") * 5, non_blocking=True)
    if not has_fault:
        torch.cuda.synchronize()
    return host.tolist() == [5] * 100


def repeat(function):
    """Prints the number of wrong results of 20 calls with the mistake, and of 20 calls without the mistake."""
    for has_fault in (True, False):
        wrong = 0
        for _ in range(20):
            wrong += not function(has_fault)
            torch.cuda.synchronize()
        print(function.__name__, "fault" if has_fault else "correct", wrong)


FUNCTIONS = {function.__name__: function for function in (
    store_past_the_end, operator_does_not_wait, kernel_does_not_wait, stream_does_not_wait_back, event_is_recorded_too_early,
    tensor_is_freed_early, pinned_memory_is_reused, pinned_memory_is_read_early)}  # fmt: skip
if __name__ == "__main__":
    if sys.argv[1] == "repeat":
        for name in sys.argv[2:]:
            repeat(FUNCTIONS[name])
    else:
        planted.run(FUNCTIONS, torch.AcceleratorError)
