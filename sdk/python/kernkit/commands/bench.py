# SPDX-License-Identifier: Apache-2.0
"""Runs benchmark programs and writes one file with what they measured, and on what.

A PROGRAM is a command: one of Google Benchmark, or a Python file that takes --benchmark_out=FILE
and writes the same JSON. Every round runs each program once, in a process of its own, with its rows
in random order and several times, of which the fastest counts. A row's samples are those of the
rounds. Exit code 1: a program failed, or a row found its result wrong.
"""

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, Tuple

from .. import programs
from ..bench import measurements
from ..bench.measurements import Row, Run
from ..errors import UserError
from ..project import git

PACKAGES = ("apache-tvm-ffi", "numpy", "torch", "jax", "jax-tvm-ffi", "ml_dtypes")
# Of Google Benchmark's own context; what else is there, a program has added.
OF_GOOGLE = {"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled",
             "aslr_enabled", "caches", "load_avg", "library_build_type", "library_version",
             "json_schema_version"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("programs", nargs="+", metavar="PROGRAM",
                        help='as in "build/release/bin/scale_bench" or "THREADS=2 bench/scale.py"')
    parser.add_argument("--output", type=pathlib.Path, default="build/bench/run.json",
                        help="what is written (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--repetitions", type=int, default=3,
                        help="of each row in a round (default: %(default)s)")
    parser.add_argument("--sources", type=pathlib.Path, nargs="*", default=[], metavar="FILE",
                        help="kept beside the result: the peers")
    parser.add_argument("--option", action="append", default=[], metavar="--benchmark_...",
                        help="passed on to each program")
    parser.add_argument("--brief", action="store_true",
                        help="print some results and a small table; rows are in the file only")


def _command(program: str) -> Tuple[List[str], Dict[str, str]]:
    words, environment = shlex.split(program), dict(os.environ)
    while words and re.match(r"\w+=", words[0]):
        key, _, environment[key] = words.pop(0).partition("=")
    if not words or not pathlib.Path(words[0]).exists():
        raise UserError(f"there is no program {program}")
    return ([sys.executable] if words[0].endswith(".py") else []) + words, environment


def _read(path: pathlib.Path, default: str = "") -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return default


def _processor() -> str:
    found = re.search(r"^(?:model name|Model)\s*: (.*)$", _read(pathlib.Path("/proc/cpuinfo")),
                      re.MULTILINE)
    return found[1] if found else platform.machine()


CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")


def caches(folder: pathlib.Path = CACHES) -> List[Dict[str, Any]]:
    """[{"level": 1, "bytes": 32768, "type": "Data"}, ...] of processor 0; none where the system does
    not tell, as in a container without /sys."""
    found = []
    for index in sorted(folder.glob("index*")):
        kind, size = _read(index / "type"), _read(index / "size")
        if kind != "Instruction" and size.endswith("K"):
            found.append({"level": int(_read(index / "level", "0")), "type": kind,
                          "bytes": int(size[:-1]) * 1024})
    return found


def _commit() -> str:
    """What was measured, "+" when files differ from it."""
    return git.described(pathlib.Path())


def context() -> Dict[str, Any]:
    """The machine and the versions. No name of a host, user or folder."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    governor = _read(pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "frequency_governor": governor or "unknown",
        "caches": caches(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"),
        "huge_pages": _read(pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled"), "unknown"),
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "versions": versions,
    }


def _busy_seconds() -> float:
    """Of all processors since boot, what others stole from this machine included."""
    ticks = [int(word) for word in _read(pathlib.Path("/proc/stat"), "cpu 0").split("\n")[0].split()[1:]]
    idle = sum(ticks[3:5])
    return (sum(ticks[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class _Collector:
    """The rows of all rounds."""

    def __init__(self) -> None:
        self.rows: Dict[Tuple[str, str], Row] = {}
        self.added: Dict[str, Any] = {}

    def add(self, program: str, content: Dict[str, Any]) -> None:
        for key, value in content["context"].items():
            if key not in OF_GOOGLE:
                known = self.added.setdefault(key, [])
                known += [value] if value not in known else []
        for measured in content["rows"]:
            found = Row(**{"program": program, **measured})
            row = self.rows.setdefault((program, found.name), Row(program, found.name, found.unit))
            row.unit, row.bytes = found.unit, found.bytes or row.bytes
            row.reason = row.reason or found.reason
            if found.samples:
                # What else runs on a machine only ever adds time.
                row.samples.append(min(found.samples))


def run(arguments: argparse.Namespace) -> int:
    commands = [(program, *_command(program)) for program in arguments.programs]
    for name in ("rounds", "repetitions"):
        if getattr(arguments, name) < 1:
            raise UserError(f"--{name} must be 1 or more")
    about, collector, failed = context(), _Collector(), []
    started, busy, own = time.monotonic(), _busy_seconds(), _own_seconds()
    for number in range(arguments.rounds):
        for program, command, environment in commands:
            name = pathlib.Path(command[command[0] == sys.executable]).stem
            print(f"round {number + 1} of {arguments.rounds}: {program}", flush=True)
            with tempfile.NamedTemporaryFile(suffix=".json") as out:
                result = programs.run(
                    [*command, f"--benchmark_out={out.name}",
                     "--benchmark_enable_random_interleaving=true",
                     f"--benchmark_repetitions={arguments.repetitions}", *arguments.option],
                    env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                text = pathlib.Path(out.name).read_text()
            if result.returncode != 0 or not text:
                failed.append(f"{program}: exit code {result.returncode}\n{result.stderr[-2000:]}")
                continue
            collector.add(name, measurements.parse(text))
    elapsed = time.monotonic() - started
    others = _busy_seconds() - busy - (_own_seconds() - own)
    about.update(rounds=arguments.rounds, seconds=round(elapsed),
                 busy_with_others=round(max(0.0, others) / elapsed / (os.cpu_count() or 1), 3),
                 programs=arguments.programs, options=arguments.option, **collector.added)
    about["sources"] = {path.name: path.read_text() for path in arguments.sources}
    rows = sorted(collector.rows.values(), key=lambda row: row.order)
    for row in rows:
        if row.reason:
            row.samples = []  # what was right in some rounds only is not trusted
            if not row.reason.startswith("skipped: "):
                failed.append(f"{row.name}: {row.reason}")
    measured = Run(about, rows)
    measurements.save(measured, arguments.output)
    if arguments.brief:
        from ..bench import summary

        print("\n".join(["", *summary.sentences(measured), "", *summary.table(measured), ""]))
    else:
        _print(measured)
    print(f"{len(measured.measured)} rows in {elapsed:.0f} s, {about['busy_with_others']:.0%} of "
          f"the processors busy with others: {arguments.output}")
    if about["busy_with_others"] > measurements.BUSY:
        print("these are times of a busy machine: measure again when others use less than "
              f"{measurements.BUSY:.0%} of it")
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


def _print(measured: Run) -> None:
    for row in measured.rows:
        if not row.samples:
            print(f"{row.name:<52} {row.reason}")
            continue
        line = f"{row.name:<52} {measurements.say_value(row):>10} {measurements.say_spread(row):>5}"
        ceiling = measured.ceiling(row)
        if row.bytes:
            line += f" {row.rate / 1e9:8.2f} GB/s"
        if ceiling:
            line += f"  {row.rate / ceiling.rate:5.2f} of {measured.ceiling_name(row)}"
        elif measured.is_ours(row):
            line += "".join(f"  {row.median / peer.median:6.3f} x {peer.whose}"
                            for peer in measured.peers(row))
        print(line)
