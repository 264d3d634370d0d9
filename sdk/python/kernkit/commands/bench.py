# SPDX-License-Identifier: Apache-2.0
"""Run benchmark programs and write one file with their measurements and a description of the machine.

A PROGRAM is a command: a program of Google Benchmark, or a Python file that takes --benchmark_out=FILE
and writes the same JSON. Every round runs each program once, in its own process. The program measures its rows in
random order, each row several times, and the fastest time of a row is its sample of the
round. Exit code 1: a program failed, or a row computed a wrong result.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from .. import programs
from ..bench import machine, measurements
from ..bench.collection import Collector, command_of
from ..bench.measurements import Run
from ..errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("programs", nargs="+", metavar="PROGRAM",
                        help='command, for example "build/release/bin/scale_bench" or "THREADS=2 bench/scale.py"')
    parser.add_argument("--output", type=pathlib.Path, default="build/bench/run.json",
                        help="the file to write (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="number of runs of each program (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=3,
                        help="number of measurements of each row in a round (default: %(default)s)")
    parser.add_argument("--sources", type=pathlib.Path, nargs="*", default=[], metavar="FILE",
                        help="source files of the peers; their text is stored in the result")
    parser.add_argument("--option", action="append", default=[], metavar="--benchmark_...",
                        help="an option that is passed on to each program; repeatable")
    parser.add_argument("--brief", action="store_true",
                        help="print a summary and a small table; write the rows to the file only")


def run(arguments: argparse.Namespace) -> int:
    commands = [(program, *command_of(program)) for program in arguments.programs]
    for name in ("rounds", "repetitions"):
        if getattr(arguments, name) < 1:
            raise UserError(f"--{name} must be 1 or more")
    about, collector, failed = machine.context(), Collector(), []
    started, busy, own_seconds = time.monotonic(), machine.busy_seconds(), machine.own_seconds()
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
    other_seconds = machine.busy_seconds() - busy - (machine.own_seconds() - own_seconds)
    about.update(rounds=arguments.rounds, seconds=round(elapsed),
                 busy_with_others=round(max(0.0, other_seconds) / elapsed / (os.cpu_count() or 1), 3),
                 programs=arguments.programs, options=arguments.option, **collector.added)
    about["sources"] = {path.name: path.read_text() for path in arguments.sources}
    rows = sorted(collector.rows.values(), key=lambda row: row.order)
    for row in rows:
        if row.reason:
            row.samples = []  # a row that failed or was skipped in any round keeps no samples
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
          f"the processors used by other programs: {arguments.output}")
    if about["busy_with_others"] > measurements.BUSY:
        print("the machine was busy: measure again when other programs use less than "
              f"{measurements.BUSY:.0%} of the processors")
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


def _print(measured: Run) -> None:
    for row in measured.rows:
        if not row.samples:
            print(f"{row.name:<52} {row.reason}")
            continue
        line = f"{row.name:<52} {measurements.format_value(row):>10} {measurements.format_spread(row):>5}"
        ceiling = measured.ceiling(row)
        if row.bytes:
            line += f" {row.rate / 1e9:8.2f} GB/s"
        if ceiling:
            line += f"  {row.rate / ceiling.rate:5.2f} of {measured.ceiling_name(row)}"
        elif measured.is_ours(row):
            line += "".join(f"  {row.median / peer.median:6.3f} x {peer.implementation}"
                            for peer in measured.peers(row))
        print(line)
