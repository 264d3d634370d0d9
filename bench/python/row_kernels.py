# SPDX-License-Identifier: Apache-2.0
"""Row kernels called from Python, compared with eager PyTorch: norms, softmax, gated activations. Rows are named
from Python/<op>/<dtype>/<implementation>/n:<rows>/d:<columns>[/strided]. The last lines give, for each op, PyTorch's
time divided by kernkit's: the geometric mean and the smallest ratio.

kernkit writes into a preallocated tensor; PyTorch allocates its result, as usual. With OMP_NUM_THREADS=1 in the
environment both have one thread: from Python on one thread/<op>/... With TORCH_COMPILE=1 there are rows of PyTorch's
expression under torch.compile, compiled for the exact shape, which takes some 10 s per row. Strided rows have a gap of
64 elements.

The implementations take turns, with a rest in between, because OpenMP's threads spin for some milliseconds after a call
of PyTorch and would occupy the processor of the second thread. On a machine with other programs PIN_THREADS=1 binds the
calling thread to the first processor and all other threads to the second processor, and repeats a turn in which a
thread waited for its processor.

"""

import contextlib
import math
import os
import statistics
import time
import timeit

from rows import ROOT, Rows, interleaved

COMPILED = os.environ.get("TORCH_COMPILE") == "1"
ONE_THREAD = os.environ.get("OMP_NUM_THREADS") == "1"
START = "from Python on one thread" if ONE_THREAD else "from Python"
PINNED = os.environ.get("PIN_THREADS") == "1"
PROCESSORS = sorted(os.sched_getaffinity(0))[:2]
# Paths of the libraries that the targets kernkit_row_kernels and template_library build.
LIBRARY, SAMPLE = (ROOT / f"build/release/lib/lib{name}.so" for name in ("kernkit_row_kernels", "template_library"))
DTYPES = ["float32", "bfloat16", "float16"]
# (rows, columns): matrices of about 1 MiB of float32, whose row length is or is not a multiple of a block, and a matrix
# larger than the caches.
SHAPES = [(2048, 128), (256, 1000), (256, 1024), (64, 4096), (63, 4099), (16, 16384), (4096, 4096)]
GAP = 64
PAUSE = 0.012  # pause before each turn [s]
# Calls of PyTorch that write into a preallocated tensor.
INTO = {"softmax": "torch.softmax(x, -1, out=out)"}


def statements():
    """Returns {op: (PyTorch's expression, kernkit's call, columns of x divided by columns of y)}."""
    return {
        "rms_norm": ("F.rms_norm(x, (d,), w, 1e-6)", "lib.rms_norm(y, x, w, 1e-6)", 1),
        "fused_add_rms_norm": (
            "F.rms_norm(x + r, (d,), w, 1e-6)", "lib.fused_add_rms_norm(y, s, x, r, w, 1e-6)", 1),
        "layer_norm": ("F.layer_norm(x, (d,), w, b, 1e-5)", "lib.layer_norm(y, x, w, b, 1e-5)", 1),
        "softmax": ("torch.softmax(x, -1)", "lib.softmax(y, x)", 1),
        "gelu_and_mul": ("F.gelu(x[:, :d]) * x[:, d:]", "lib.gelu_and_mul(y, x)", 2),
        "silu_and_mul": ("F.silu(x[:, :d]) * x[:, d:]", "sample.silu_and_mul(y, x)", 2),
    }  # fmt: skip


def tasks():
    return map(int, os.listdir("/proc/self/task"))


def waited():
    """Returns the total time for which threads of this program were ready but waited for a processor [s]."""
    return sum(int(open(f"/proc/self/task/{task}/schedstat").read().split()[1]) for task in tasks()) / 1e9


class Undisturbed:
    """A timer that repeats a turn if threads had to wait for a processor. After six disturbed turns the timer returns
    the time of the fastest turn."""

    def __init__(self, timer):
        self.timer = timer

    def timeit(self, count):
        taken = []
        while len(taken) < 6:
            before = waited()
            taken.append(self.timer.timeit(count))
            if waited() - before < 0.02 * taken[-1]:
                return taken[-1]
        return min(taken)


def pin_threads():
    for thread in tasks():
        with contextlib.suppress(ProcessLookupError):  # the thread has ended
            os.sched_setaffinity(thread, {PROCESSORS[0 if thread == os.getpid() else -1]})


def start_threads(lib, sample):
    """Starts the threads of the libraries before pin_threads(): a library counts the processors once, in its first call."""
    import torch

    y, x = torch.zeros(256, 4096), torch.zeros(256, 8192)
    lib.gelu_and_mul(y, x)
    sample.silu_and_mul(y, x)


def measure(rows, libraries, op, dtype, n, d, strided, ratios):
    import torch

    peer_statement, statement, wide = statements()[op]
    tail = f"n:{n}/d:{d}" + ("/strided" if strided else "")
    if not rows.wants(f"{START}/{op}/{dtype}/{tail}"):
        return
    kind, gap = getattr(torch, dtype), GAP if strided else 0
    torch.manual_seed(1)
    x, r = (torch.randn(n, wide * d + gap).to(kind)[:, : wide * d] for _ in range(2))
    w, b = (torch.randn(d).to(kind) for _ in range(2))
    y, s = torch.full((n, d), 77.0).to(kind), torch.full((n, d), 77.0).to(kind)
    names = {"torch": torch, "F": torch.nn.functional, **libraries, "x": x, "r": r, "w": w, "b": b,
             "y": y, "s": s, "d": d, "out": torch.empty_like(y)}  # fmt: skip
    expected = eval(peer_statement, names)
    exec(statement, names)
    # PyTorch rounds intermediate results of 16-bit floats; kernkit does not.
    digits = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}[dtype]
    if not torch.allclose(y.double(), expected.double(), rtol=digits, atol=digits):
        return rows.fail(f"{START}/{op}/{dtype}/kernkit/{tail}", "the result is wrong")
    timers = {"kernkit": timeit.Timer(statement, globals=names), "torch": timeit.Timer(peer_statement, globals=names)}
    if op in INTO:
        timers["torch-into"] = timeit.Timer(INTO[op], globals=names)
    if COMPILED:
        names["compiled"] = torch.compile(eval(f"lambda x, r, w, b: {peer_statement}", names), dynamic=False)
        timers["compiled"] = timeit.Timer("compiled(x, r, w, b)", globals=names)
        torch.testing.assert_close(eval("compiled(x, r, w, b)", names), expected, rtol=digits, atol=digits)
    if PINNED:
        for timer in timers.values():
            timer.timeit(3)  # starts the threads
        pin_threads()
        timers = {implementation: Undisturbed(timer) for implementation, timer in timers.items()}
    times = interleaved(timers, 0.003, 9, PAUSE)
    moved = {"fused_add_rms_norm": 4, "gelu_and_mul": 3, "silu_and_mul": 3}.get(op, 2) * n * d * y.element_size()
    for implementation, samples in times.items():
        rows.add(f"{START}/{op}/{dtype}/{implementation}/{tail}", samples, moved=moved)
    for peer in times.keys() - {"kernkit"}:
        ratio = statistics.median(times[peer]) / statistics.median(times["kernkit"])
        ratios.setdefault((op, peer), {})[f"{dtype} {tail}"] = ratio


def main():
    with Rows(__doc__) as rows:
        try:
            import torch
            import tvm_ffi
        except ImportError as missing:
            return rows.skip(f"{START}/torch", f"{missing.name} is not installed")
        if ONE_THREAD:
            torch.set_num_threads(1)
        libraries = {"lib": tvm_ffi.load_module(str(LIBRARY)), "sample": tvm_ffi.load_module(str(SAMPLE))}
        start_threads(**libraries)
        ratios = {}
        for op in statements():
            for dtype in DTYPES:
                for n, d in SHAPES:
                    measure(rows, libraries, op, dtype, n, d, False, ratios)
                if op != "silu_and_mul":  # silu_and_mul requires contiguous rows
                    measure(rows, libraries, op, dtype, 64, 4096, True, ratios)
        for (op, peer), cells in sorted(ratios.items()):
            mean = math.exp(statistics.fmean(map(math.log, cells.values())))
            least = min(cells, key=cells.get)
            print(f"{op}: {peer} / kernkit {mean:.2f}, least {cells[least]:.2f} ({least})")


if __name__ == "__main__":
    main()
