# SPDX-License-Identifier: Apache-2.0
"""More mistakes with streams in programs that use PyTorch. For each mistake, an order of the streams exists that gives
wrong results. torch_faults.py has the mistakes that docs/pytorch-without-a-gpu.md shows. The command line is the same
as for torch_faults.py, or

    kernkit run --seed 3 python torch_stream_faults.py once NAME...   # prints NAME fault|correct right|wrong
"""

import sys

import planted
import torch
import triton
import triton.language as tl
from torch_faults import FUNCTIONS as OTHERS


@triton.jit
def fill(x, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, value, mask=i < n)  # FAULT kernel_writes_too_early


def ones():
    return torch.ones(100, device="cuda")


def current():
    return torch.cuda.current_stream()


def is_filled_with(x, value):
    torch.cuda.synchronize()
    return x.tolist() == [value] * 100


def event_is_recorded_twice(has_fault):
    x, side, third, done = ones(), torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Event()
    for _ in range(8):
        x += 0.125
    done.record()
    if has_fault:
        done.record(third)
    side.wait_event(done)
    with torch.cuda.stream(side):
        y = x * 2  # FAULT event_is_recorded_twice
    return is_filled_with(y, 4)


def event_is_of_the_wrong_stream(has_fault):
    x, side, done = ones(), torch.cuda.Stream(), torch.cuda.Event()
    x += 1
    done.record(side if has_fault else current())
    side.wait_event(done)
    with torch.cuda.stream(side):
        y = x * 2  # FAULT event_is_of_the_wrong_stream
    return is_filled_with(y, 4)


def wrong_stream_waits(has_fault):
    x, side = ones(), torch.cuda.Stream()
    x += 1
    first, second = (current(), side) if has_fault else (side, current())
    first.wait_stream(second)
    with torch.cuda.stream(side):
        y = x * 2  # FAULT wrong_stream_waits
    return is_filled_with(y, 4)


def wait_precedes_the_work(has_fault):
    x, side = ones(), torch.cuda.Stream()
    if has_fault:
        side.wait_stream(current())
    x += 1
    if not has_fault:
        side.wait_stream(current())
    with torch.cuda.stream(side):
        y = x * 2  # FAULT wait_precedes_the_work
    return is_filled_with(y, 4)


def input_is_overwritten(has_fault):
    x, side = ones(), torch.cuda.Stream()
    side.wait_stream(current())
    with torch.cuda.stream(side):
        y = x * 2
    if not has_fault:
        current().wait_stream(side)
    x.add_(5)  # FAULT input_is_overwritten
    return is_filled_with(y, 2)


def two_streams_write(has_fault):
    x, side = ones(), torch.cuda.Stream()
    side.wait_stream(current())
    x += 1
    if not has_fault:
        side.wait_stream(current())
    with torch.cuda.stream(side):
        x *= 10  # FAULT two_streams_write
    return is_filled_with(x, 20)


def one_of_two_streams_is_awaited(has_fault):
    x, y, first, second = ones(), ones(), torch.cuda.Stream(), torch.cuda.Stream()
    for stream in (first, second):
        stream.wait_stream(current())
    with torch.cuda.stream(first):
        x += 1
    with torch.cuda.stream(second):
        y += 1
    if not has_fault:
        current().wait_stream(first)
    current().wait_stream(second)
    z = x * y  # FAULT one_of_two_streams_is_awaited
    return is_filled_with(z, 4)


def kernel_writes_too_early(has_fault):
    x, side = ones(), torch.cuda.Stream()
    side.wait_stream(current())
    y = x * 2
    if not has_fault:
        side.wait_stream(current())
    with torch.cuda.stream(side):
        fill[(1,)](x, 7.0, 100, BLOCK=128)
    return is_filled_with(y, 2)


def wait_is_in_another_branch(has_fault):
    """With the fault, `side` waits only if x has more than 1000 elements, and x has fewer."""
    x, side = ones(), torch.cuda.Stream()
    x += 1
    if len(x) > (1000 if has_fault else 10):
        side.wait_stream(current())
    with torch.cuda.stream(side):
        y = x.cumsum(0)  # FAULT wait_is_in_another_branch
    torch.cuda.synchronize()
    return y[99].item() == 200


def result_is_read_on_another_stream(has_fault):
    x, side = ones(), torch.cuda.Stream()
    side.wait_stream(current())
    with torch.cuda.stream(side):
        y = torch.matmul(x.view(10, 10), x.view(10, 10))
    if not has_fault:
        side.synchronize()
    total = y.sum()  # FAULT result_is_read_on_another_stream
    y.record_stream(current())
    torch.cuda.synchronize()
    return total.item() == 1000


FUNCTIONS = {function.__name__: function for function in (
    event_is_recorded_twice, event_is_of_the_wrong_stream, wrong_stream_waits, wait_precedes_the_work, input_is_overwritten,
    two_streams_write, one_of_two_streams_is_awaited, kernel_writes_too_early, wait_is_in_another_branch,
    result_is_read_on_another_stream)}  # fmt: skip
if __name__ == "__main__":
    if sys.argv[1] == "once":
        functions = {**OTHERS, **FUNCTIONS}
        for name in sys.argv[2:]:
            for mode in ("fault", "correct"):
                print(name, mode, "right" if functions[name](mode == "fault") else "wrong")
                torch.cuda.synchronize()
    else:
        planted.run(FUNCTIONS, torch.AcceleratorError)
