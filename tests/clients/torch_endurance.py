# SPDX-License-Identifier: Apache-2.0
"""Long runs of PyTorch with CUDA tensors, whose results and memory are checked:

    kernkit run python torch_endurance.py memory COUNT
    kernkit run python torch_endurance.py threads SECONDS

`memory` runs COUNT operators, with graphs that are created and dropped, and with exceptions in the middle of operators,
of captures and of gradients. `threads` runs rounds of four threads with a stream each, graphs, gradients and a data
loader, until SECONDS have passed. Each command prints "right" if all results are right and the memory of the process
does not grow. If a round of `threads` does not end within LIMIT, the process prints the stacks of its threads and
exits."""

import faulthandler
import gc
import os
import sys
import threading
import time

import torch

LIMIT = float(os.environ.get("KERNKIT_ROUND_LIMIT", 600))  # time limit of a round [s]
GROWTH = 16 << 20  # largest growth of the process's memory after the first quarter of a run [bytes]


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise ArithmeticError("in a gradient")


def resident():
    """Returns the resident memory of this process, except memory of mapped files [bytes]."""
    gc.collect()
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon:"))


def raises(error_type, function):
    try:
        function()
    except error_type:
        return
    raise AssertionError(f"{function.__name__}() raised nothing")


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual}, expected {expected}")


def operators(x, count):
    """Runs `count` operators, of which every second is in place, and checks the result."""
    y = x.clone()
    for _ in range(count // 2):
        y.add_(1)
        y = y * 1
    expect((y - x).tolist(), [count // 2] * len(x))


def graph(x, mode="global"):
    """Captures a graph with random numbers, replays the graph, and drops the graph."""
    captured = torch.cuda.CUDAGraph()
    x.zero_()
    with torch.cuda.graph(captured, stream=torch.cuda.Stream(), capture_error_mode=mode):
        x.add_(2)
        y = x * 3 + torch.rand_like(x) * 0
    for _ in range(3):
        captured.replay()
    expect((x.tolist(), y.tolist()), ([6] * len(x), [18] * len(x)))


def exceptions(x, mode="global"):
    """Raises exceptions in an operator, a capture, a gradient, and an allocation."""

    def wrong_shapes():
        return x + torch.ones(len(x) + 1, device="cuda")

    def value_in_a_capture():
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=torch.cuda.Stream(), capture_error_mode=mode):
            (x + 1).nonzero()

    def gradient():
        Fails.apply(x.detach().requires_grad_() * 2).sum().backward()

    def too_large():
        return torch.empty(1 << 42, device="cuda")

    raises(RuntimeError, wrong_shapes)
    raises(RuntimeError, value_in_a_capture)
    raises(ArithmeticError, gradient)
    raises(torch.OutOfMemoryError, too_large)


def gradients(size=8):
    x = torch.eye(size, device="cuda", requires_grad=True)
    ((x @ x).sum() + (x * 2).sum()).backward()
    expect(x.grad.tolist(), [[4.0] * size] * size)


def loader(workers):
    data = torch.utils.data.TensorDataset(torch.arange(64.0))
    batches = torch.utils.data.DataLoader(data, batch_size=8, pin_memory=True, num_workers=workers)
    expect(sum(batch.cuda(non_blocking=True).sum().item() for (batch,) in batches), 2016)


def in_thread(errors, index, rounds):
    """Runs operators, a graph, gradients and exceptions on a stream of the thread."""
    try:
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.full((100,), float(index), device="cuda")
            for _ in range(rounds):
                operators(x, 20)
                gradients()
            raises(ArithmeticError, lambda: Fails.apply(x.detach().requires_grad_()).sum().backward())
            torch.cuda.current_stream().synchronize()
    except BaseException as error:
        errors.append(error)
        raise


def check_memory(name, memory):
    """Fails if the resident memory of a process grows by more than GROWTH after the first quarter of a run. `memory`:
    the resident memory, measured at equal intervals of the run [bytes]."""
    growth = memory[-1] - memory[len(memory) // 4]
    print(f"{name}: {memory[len(memory) // 4] >> 10} KiB after a quarter, {memory[-1] >> 10} KiB at the end")
    if growth > GROWTH:
        raise AssertionError(f"the memory grew by {growth >> 10} KiB: {[bytes >> 10 for bytes in memory]}")


def run_memory(count):
    x = torch.zeros(1000, device="cuda")
    memory, at_a_time = [], max(count // 20, 2)
    for done in range(0, count, at_a_time):
        for _ in range(at_a_time // 50):
            operators(x, 50)
            graph(x[:10])
            exceptions(x)
            gradients()
        memory.append(resident())
    expect(torch.cuda.memory_allocated() < 1 << 20, True)
    check_memory(f"{count} operators", memory)


def run_threads(seconds):
    memory, rounds, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end or rounds < 8:
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        errors = []
        threads = [threading.Thread(target=in_thread, args=(errors, index, 5)) for index in range(4)]
        for thread in threads:
            thread.start()
        loader(workers=2 if rounds % 4 == 0 else 0)
        for thread in threads:
            thread.join()
        expect(errors, [])
        x = torch.zeros(10, device="cuda")
        graph(x)
        exceptions(x)
        memory.append(resident())
        rounds += 1
    faulthandler.cancel_dump_traceback_later()
    check_memory(f"{rounds} rounds of 4 threads", memory)


if __name__ == "__main__":
    {"memory": run_memory, "threads": run_threads}[sys.argv[1]](int(sys.argv[2]))
    print("right")
