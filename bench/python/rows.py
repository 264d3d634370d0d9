# SPDX-License-Identifier: Apache-2.0
"""Rows that a Python program measures, in the format of `kernkit bench`."""

import argparse
import json
import pathlib
import re
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def processor():
    """Returns vendor, family and model of the processor as the system reports them."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    vendor, family, model = (re.search(rf"^{key}\s*: (.+)$", text, re.M)[1] for key in ("vendor_id", "cpu family", "model"))
    vendor = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}.get(vendor, vendor)
    return f"{vendor} family {family} model {model}"


class Rows:
    """Collects rows of samples, and writes them to --benchmark_out at the end of `with Rows(__doc__) as rows: ...`."""

    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
        parser.add_argument("--benchmark_out", metavar="FILE")
        parser.add_argument("--benchmark_filter", default="", metavar="REGEX")
        options, _ = parser.parse_known_args()
        self.out, self.filter, self.rows = options.benchmark_out, options.benchmark_filter, []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.out:
            pathlib.Path(self.out).write_text(json.dumps({"context": {}, "rows": self.rows}))

    def wants(self, name):
        return re.search(self.filter, name) is not None

    def add(self, name, samples, unit="ns", moved=0):
        """Adds a row with its samples, and prints the median. `moved`: number of bytes that a call reads and writes."""
        self.rows.append({"name": name, "unit": unit, "samples": samples, "bytes": moved})
        print(f"{name:<56} {statistics.median(samples):12.1f} {unit}", flush=True)

    def skip(self, name, reason):
        self.rows.append({"name": name, "reason": f"skipped: {reason}"})
        print(f"{name:<56} skipped: {reason}", flush=True)

    def fail(self, name, reason):
        self.rows.append({"name": name, "reason": reason})
        print(f"{name:<56} failed: {reason}", file=sys.stderr, flush=True)


def interleaved(timers, seconds, repetitions, pause=0.0):
    """Returns {name: time of one call in each repetition [ns]}. `timers`: {name: timeit.Timer}; the timers take
    turns. A turn lasts `seconds`, or one call if a call takes longer. A pause of `pause` seconds precedes each
    turn."""
    counts, times = {}, {name: [] for name in timers}
    for name, timer in timers.items():
        once = min(timer.timeit(1) for _ in range(2 if seconds > 0.01 else 9))
        counts[name] = max(1, int(seconds / max(once, 1e-7)))
    for _ in range(repetitions):
        for name, timer in timers.items():
            time.sleep(pause)
            times[name].append(timer.timeit(counts[name]) / counts[name] * 1e9)
    return times
