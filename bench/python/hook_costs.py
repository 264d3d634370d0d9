# SPDX-License-Identifier: Apache-2.0
"""The costs of the call hook and of the line information of kernels: times of calls with the log, the trace and
recordings, and sizes of a library from `kernkit new` and of its wheel, with both, without line information, and without
the hook. The page "My kernel crashed" has these figures.

    bench/python/hook_costs.py --benchmark_out rows.json --record bench/results/cpu/hook_PROCESSOR.json

build/release must have the target hook_bench. The times are medians of the processor time of a call, from interleaved
turns in one process. The files of the log, the trace and recordings are in memory (/dev/shm), because the time of a
disk depends on other programs. nvcc must be installed for the sizes; --times keeps the sizes of the record.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile

import build_cost
from costs import build_wheel
from rows import ROOT, Rows, processor

PROGRAM = ROOT / "build/release/bin/hook_bench"
CALLS = [
    ("without a variable", ["call hook/off"]),
    ("`KERNKIT_TRACE`", ["call hook/trace"]),
    ("`KERNKIT_LOG=names`, `args`, `stats` to a file", [f"call hook/log {level}" for level in ("names", "args", "stats")]),
]
SIZES = {4: "4 bytes", 4096: "4 KiB", 65536: "64 KiB", 1 << 20: "1 MiB", 1 << 24: "16 MiB"}
CALLS += [(f"`KERNKIT_RECORD`, tensors of {name}", [f"recorded call/{size} bytes"]) for size, name in SIZES.items()]
BUILDS = {"as usual": "", "`-DKERNKIT_LINEINFO=OFF`": "-DKERNKIT_LINEINFO=OFF", "`-DKERNKIT_CALL_HOOK=OFF`": "-DKERNKIT_CALL_HOOK=OFF"}


def measure_calls(rows, repetitions=15):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        out = pathlib.Path(folder) / "rows.json"
        options = ["random_interleaving=true", f"repetitions={repetitions}", "min_time=0.02", f"out={out}", "out_format=json"]
        command = [PROGRAM, *(f"--benchmark_enable_{o}" if o.startswith("random") else f"--benchmark_{o}" for o in options)]
        subprocess.run(command, check=True, env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        runs = [run for run in json.loads(out.read_text())["benchmarks"] if run["run_type"] == "iteration"]
    for name in [name for _, names in CALLS for name in names]:
        samples = [run["cpu_time"] for run in runs if run["name"].startswith((name + "/real_time", name + "/iterations"))]
        assert len(samples) == repetitions, name
        rows.add(name, samples)


def measure_sizes(rows, folder):
    """Builds the library of `kernkit new` with CUDA once for each entry of BUILDS."""
    tools = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")}
    subprocess.run([sys.executable, "-B", "-m", "kernkit", "new", "sized_ops"], cwd=folder, env=tools, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    for i, (name, argument) in enumerate(BUILDS.items()):
        wheel = build_wheel(folder / str(i), folder / "sized_ops", KERNKIT_CUDA="ON", CMAKE_ARGS=argument)
        library = pathlib.Path(zipfile.ZipFile(wheel).extract("sized_ops/libsized_ops.so", folder / str(i)))
        rows.add(f"library/{name}", [build_cost.stripped_size(library)], "bytes")
        rows.add(f"wheel/{name}", [wheel.stat().st_size], "bytes")


def in_units(nanoseconds):
    for factor, unit in ((1, "ns"), (1e3, "us"), (1e6, "ms")):
        if nanoseconds < 1000 * factor or unit == "ms":
            return f"{nanoseconds / factor:.2g}" if nanoseconds < 100 * factor else f"{nanoseconds / factor:.0f}", unit
    raise AssertionError


def table_of_calls(record):
    lines = ["| a call of `scale` | processor time |\n", "|---|---|\n"]
    for label, names in CALLS:
        values = [in_units(record["rows"][name]) for name in names]
        lines.append(f"| {label} | {', '.join(value for value, _ in values)} {values[-1][1]} |\n")
        assert len({unit for _, unit in values}) == 1
    return "".join(lines)


def table_of_sizes(record):
    lines = ["| a library of `kernkit new` with CUDA | library, stripped | wheel |\n", "|---|---|---|\n"]
    for name in BUILDS:
        library, wheel = (record["rows"][f"{kind}/{name}"] / 1e3 for kind in ("library", "wheel"))
        lines.append(f"| {name} | {library:.0f} kB | {wheel:.0f} kB |\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--times", action="store_true")
    options, _ = parser.parse_known_args()
    earlier = json.loads(options.record.read_text())["rows"] if options.times else {}
    with Rows(__doc__) as rows, tempfile.TemporaryDirectory() as folder:
        measure_calls(rows)
        if not options.times:
            measure_sizes(rows, pathlib.Path(folder))
        medians = {row["name"]: round(statistics.median(row["samples"]), 1) for row in rows.rows}
    if options.record:
        compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
        record = {"processor": processor(), "compiler": f"g++ {compiler}", "rows": {**earlier, **medians}}
        options.record.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
