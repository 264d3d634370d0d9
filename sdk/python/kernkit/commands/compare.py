# SPDX-License-Identifier: Apache-2.0
"""Compare two runs of benchmarks, of one machine or of two, and list faster and slower rows.

A row's value is its share of the ceiling measured in the same run (the best copy), or its ratio to
its peers in the same run. Times of two runs are never compared. For every row the command computes
the confidence interval of the change, at a confidence of 95 % for all rows together. A row
is slower or faster if the interval does not contain 0 and the change is at least --tolerance.
Any other row is unclear if the interval contains a change of 20 %. Exit code 1: a row is slower.
The command rejects runs of different CUDA devices, and a run of a CUDA device with a run of the CPU. Files of `kernkit
counters --json` are compared without intervals.
"""

import argparse
import pathlib

from ..bench import measurements
from ..bench.comparison import advice, compare
from ..errors import UserError
from ..sdk import without_component

try:
    from ..simulator import counter_comparison
except ImportError:  # a library's copy of kernkit without the component ptx
    counter_comparison = None  # type: ignore[assignment]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", type=pathlib.Path, metavar="OLD.json", help="the earlier run, with which NEW.json is compared")
    parser.add_argument("new", type=pathlib.Path, metavar="NEW.json", nargs="?",
                        default="build/bench/run.json", help="the later run (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, metavar="SHARE",
                        help="the smallest relative change that counts as slower (default: 0.05) or, for counters, as worse (default: 0)")
    parser.add_argument("--all", action="store_true", help="print unchanged rows as well")


def run(arguments: argparse.Namespace) -> int:
    if any(path.is_file() and '"kernels": [' in path.read_text()[:20] for path in (arguments.old, arguments.new)):
        if counter_comparison is None:
            raise UserError(without_component("ptx", "the comparison of counters"))
        return counter_comparison.run(arguments)
    old, new = (measurements.load(path) for path in (arguments.old, arguments.new))
    devices = [str(run.context.get("device", "the CPU")) for run in (old, new)]
    if devices[0] != devices[1]:
        raise UserError(f"{arguments.old} was measured on {devices[0]}, and {arguments.new} on {devices[1]}; compare runs of one device")
    changes, missing = compare(old, new, 0.05 if arguments.tolerance is None else arguments.tolerance)
    if not changes:
        raise UserError(f"{arguments.old} and {arguments.new} have no row of the library in common; compare runs of the same benchmarks")
    order = {"slower": 0, "faster": 1, "unclear": 2, "same": 3}
    for change in sorted(changes, key=lambda change: (order[change.verdict], change.name)):
        if change.verdict == "same" and not arguments.all:
            continue
        print(f"{change.verdict:<8} {change.name:<48} {change.change:+7.1%} time "
              f"[{change.low:+.1%}, {change.high:+.1%}]  {change.old:.3f} -> {change.new:.3f} of "
              f"{change.reference}")
    for line in missing:
        print(f"not compared: {line}")
    counts = ", ".join(f"{sum(c.verdict == verdict for c in changes)} {verdict}" for verdict in order)
    print(f"{len(changes)} rows: {counts}")
    for sentence in advice(old, new, any(change.verdict == "unclear" for change in changes)):
        print(sentence)
    return 1 if any(change.verdict == "slower" for change in changes) else 0
