# SPDX-License-Identifier: Apache-2.0
"""Times scale of float32 arrays for ten sizes, 4 KiB to 512 MiB per array, on one thread: calls from C++ in comparison
with copies, and calls from Python in comparison with NumPy. All calls take turns on the same memory, allocated by
NumPy: C++ from the start of a page, as every copy requires, and Python 16 bytes later, where NumPy's own large arrays
begin.

    KERNKIT_THREADS=1 python bench/python/scale_sizes.py [--record FILE] [--rounds N]

A turn is one call without timing, then calls for at least 2 ms of the thread's processor time, so other programs affect
only the caches and the memory. Rows are medians over all turns. of_memcpy, of_streaming and of_numpy are the times of
memcpy, of the fastest non-temporal copy and of NumPy, divided by kernkit's time; of_copy is the lesser of of_memcpy and
of_streaming. Names with _fastest compare the fastest turns. Targets: kernkit_kernels and kernkit_scale_sizes.

"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import statistics
import time
import timeit

import numpy as np
import tvm_ffi
from rows import ROOT, processor

SIZES = [size << 10 for size in (4, 16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 512 << 10)]
SECONDS = 0.002
PAGE, PAST_LINE = 4096, 16
LIBRARIES = ROOT / "build/release/lib"


class Timers:
    """The libraries whose functions are timed."""

    def __init__(self):
        self.library = tvm_ffi.load_module(str(LIBRARIES / "libkernkit_kernels.so"))
        self.native = ctypes.CDLL(str(LIBRARIES / "libkernkit_scale_sizes.so"))
        self.native.name_of_copy.restype = ctypes.c_char_p
        self.native.time_copy.restype = self.native.time_scale.restype = ctypes.c_double
        self.symbol = ctypes.cast(ctypes.CDLL(str(LIBRARIES / "libkernkit_kernels.so"))["__tvm_ffi_scale"], ctypes.c_void_p)
        self.copies = []
        while name := self.native.name_of_copy(len(self.copies)):
            self.copies.append(name.decode())

    def timers_for(self, y, x, size):
        """Returns {name: timer} for arrays that begin at a page and have 64 bytes more than `size`. A timer takes a
        number of calls and returns their time [s]."""
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in (y, x)]
        bytes_ = ctypes.c_int64(size)
        timers = {}
        for which, name in enumerate(self.copies):
            timers[name] = lambda calls, which=which: self.native.time_copy(which, ctypes.c_int64(calls), bytes_, *arrays)
        timers["kernkit"] = lambda calls: self.native.time_scale(self.symbol, ctypes.c_int64(calls), bytes_, *arrays)
        y, x = (array[PAST_LINE : PAST_LINE + size].view("float32") for array in (y, x))
        names = {"np": np, "scale": self.library.scale, "y": y, "x": x}
        timers["numpy"] = timeit.Timer("np.multiply(x, 2.0, out=y)", globals=names, timer=time.thread_time).timeit
        timers["kernkit-numpy"] = timeit.Timer("scale(y, x, 2.0)", globals=names, timer=time.thread_time).timeit
        return timers


def array(size):
    """Returns an array that begins at a page and has 64 bytes more than `size` [bytes]. The array is written once, so
    that all its pages are in memory."""
    memory = np.full(size + 2 * PAGE, 1, "uint8")
    return memory[-memory.ctypes.data % PAGE :][: size + 64]


def check(y, x, size, timers):
    """Checks that each timer's call writes all of y, and no byte past y."""
    for name, timer in timers.items():
        at = PAST_LINE if "numpy" in name else 0
        x[at : at + size].view("float32")[:] = np.arange(size // 4) % 31
        y[:] = 0x7E
        if timer(1) < 0:
            raise SystemExit(f"{name} failed at {size} bytes")
        factor = 2 if name in ("kernkit", "numpy", "kernkit-numpy") else 1
        expected = factor * x[at : at + size].view("float32")
        if not (np.array_equal(y[at : at + size].view("float32"), expected) and (y[at + size :] == 0x7E).all()):
            raise SystemExit(f"{name} is wrong at {size} bytes")


def measure(timers, size, rounds):
    """Returns {name: time of a call in each round [s]}; the timers take turns in random order."""
    calls = max(1, int(SECONDS * 1e10 / size))  # assumes 10 GB/s per array
    times = {name: [] for name in timers}
    order = list(timers)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            timers[name](1)
            times[name].append(timers[name](calls) / calls)
    return times


def shares(seconds):
    """Returns {name: time of a peer divided by kernkit's time}."""
    streaming = [taken for name, taken in seconds.items() if name.startswith("streaming")]
    peers = {"memcpy": seconds["memcpy"], **({"streaming": min(streaming)} if streaming else {})}
    ratios = {f"of_{name}": taken / seconds["kernkit"] for name, taken in {"copy": min(peers.values()), **peers}.items()}
    return {**ratios, "of_numpy": seconds["numpy"] / seconds["kernkit-numpy"]}


def row_of(times, size):
    median = {name: statistics.median(samples) for name, samples in times.items()}
    row = {"bytes": size, "gb_per_s": round(2e-9 * size / median["kernkit"], 1)}
    row.update({name: round(share, 3) for name, share in shares(median).items()})
    fastest = shares({name: min(samples) for name, samples in times.items()})
    return {**row, **{f"{name}_fastest": round(fastest[name], 3) for name in ("of_copy", "of_numpy")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--record", type=pathlib.Path, help="file for the record (default: none)")
    parser.add_argument("--rounds", type=int, default=41,
                        help="number of turns of each size below 64 MiB; larger sizes get a quarter (default: %(default)s)")  # fmt: skip
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="size of the largest arrays in bytes (default: %(default)s)")
    options = parser.parse_args()
    if os.environ.get("KERNKIT_THREADS") != "1":
        parser.error("set KERNKIT_THREADS=1 in the environment, because the copies and NumPy use one thread")
    timers, before, rows = Timers(), os.getloadavg()[0], []
    for size in (size for size in SIZES if size <= options.largest):
        y, x = array(size), array(size)
        of_size = timers.timers_for(y, x, size)
        check(y, x, size, of_size)
        rows.append(row_of(measure(of_size, size, options.rounds if size < 64 << 20 else max(5, options.rounds // 4)), size))
        print(json.dumps(rows[-1]), flush=True)
    about = {"processor": processor(), "processors": len(os.sched_getaffinity(0)), "threads": 1, "rounds": options.rounds,
             "load_before": round(before, 1), "load_after": round(os.getloadavg()[0], 1), "numpy": np.__version__,
             "libc": os.confstr("CS_GNU_LIBC_VERSION"), "taken": "medians of turns in one process, on the same memory"}  # fmt: skip
    print(json.dumps(about))
    if options.record:
        options.record.write_text("".join(json.dumps(line) + "\n" for line in (about, *rows)))


if __name__ == "__main__":
    main()
