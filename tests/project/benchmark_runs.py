# SPDX-License-Identifier: Apache-2.0
"""Generates benchmark results for the tests of the commands that compare and report results, and runs `kernkit`."""

import os
import pathlib
import random
import subprocess
import sys

from kernkit.bench import comparison
from kernkit.bench.measurements import Row, Run

ROOT = pathlib.Path(__file__).resolve().parents[2]

SIZES = [1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 29]


def kernkit(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "kernkit", *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")}, **options,
    )  # fmt: skip


def synthetic_run(seed, speed=1.0, slower=None, rounds=5, noise=0.02):
    """Returns generated results of a benchmark run on a machine that is `speed` times as fast as with the default of 1.
    slower: {name of a row: factor of its times}. noise: standard deviation of the logarithm of each time. All times of
    a round are multiplied by the same random factor."""
    rng = random.Random(seed)
    luck = [rng.uniform(1, 1.4) for _ in range(rounds)]

    def row(program, name, time, moved=0):
        factor = (slower or {}).get(name, 1) / speed
        samples = [time * factor * lucky * rng.lognormvariate(0, noise) for lucky in luck]
        return Row(program, name, "ns", samples, moved)

    rows = []
    for size in SIZES:
        for how, rate in (("memcpy", 20), ("register-256", 10), ("streaming-128", 8)):
            rows.append(row("scale_bench", f"copy/{how}/bytes:{size}", 2 * size / rate, 2 * size))
        for dtype, rate in (("float32", 9.7), ("bfloat16", 6.0)):
            for implementation in ("kernkit", "eigen"):
                name = f"scale/{dtype}/{implementation}/bytes:{size}"
                rows.append(row("scale_bench", name, 2 * size / rate, 2 * size))
    for compiler in ("g++", "clang++"):
        rows.append(row("overhead_bench", f"call/{compiler}/kernkit", 7))
        rows.append(row("overhead_bench", f"call/{compiler}/tvm-ffi", 40))
    for n, kernkit_time in ((1, 500), (1024, 600), (1 << 20, 9e5)):
        for implementation, factor in (("kernkit-numpy", 1), ("kernkit-torch", 1), ("numpy", 1.3), ("torch", 4)):
            rows.append(row("from_python", f"from Python/add/float32/{implementation}/n:{n}", kernkit_time * factor))
    return Run({"processor": "A machine", "caches": [{"level": 1, "type": "Data", "bytes": 32768}]}, rows)


def of_library(library="my_kernels"):
    """Returns generated results of a library's benchmarks, which compare an op with memcpy for each dtype."""
    rows = []
    for n in (1, 64, 1024):
        for dtype, size, rate in (("float32", 4, 20), ("float16", 2, 10)):
            moved = 24 * n * size
            keys = f"n:{n}/d:8"
            rows.append(Row("op_bench", f"copy/{dtype}/memcpy/{keys}", "ns", [moved / rate], moved))
            rows.append(Row("op_bench", f"op/{dtype}/{library}/{keys}", "ns", [moved / 5], moved))
    return Run({"ours": [library]} if library != "kernkit" else {}, rows)


def verdicts(old, new, tolerance=0.05):
    changes, missing = comparison.compare(old, new, tolerance)
    assert not missing
    return {change.name: change.verdict for change in changes}
