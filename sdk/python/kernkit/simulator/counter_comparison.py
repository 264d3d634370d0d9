# SPDX-License-Identifier: Apache-2.0
"""Compares the counters of kernels in two files of `kernkit counters --json`.

Two runs of the same program have the same counters, so every change is compared with the tolerance: a counter is worse if
its relative growth is above the tolerance, and occupancy is worse if it decreases by more than the tolerance. The number
of idle lanes, summed over the instructions of all warps, is compared like a counter."""

import argparse
import dataclasses
import json
import pathlib
from typing import Any, Dict, List, Tuple

from ..errors import UserError

# Suffixes of counters that are not compared, because a larger value is not worse: lanes, and the least traffic that the
# accesses need.
_NOT_COMPARED = ("_lanes", "_fewest_sectors", "_fewest_wavefronts")
LARGER_IS_BETTER = ("sm__maximum_warps_per_active_cycle_pct", "launch__occupancy_limit_")


@dataclasses.dataclass
class Change:
    kernel: str
    counter: str
    old: float
    new: float

    @property
    def worse(self) -> float:
        """Returns the relative change of the counter: above 0 if worse, below 0 if better; infinite for an increase
        from 0."""
        old, new = (self.new, self.old) if self.counter.startswith(LARGER_IS_BETTER) else (self.old, self.new)
        return new / old - 1 if old else (float("inf") if new else 0.0)


def load(path: pathlib.Path) -> Dict[str, Dict[str, float]]:
    """Returns {kernel: its counters} of a file. Raises UserError if `kernkit counters --json` did not write the
    file."""
    try:
        kernels: List[Dict[str, Any]] = json.loads(path.read_text())["kernels"]
        return {kernel["kernel"]: _figures(kernel) for kernel in kernels}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is not a file of `kernkit counters --json`: {error}") from error


def _figures(kernel: Dict[str, Any]) -> Dict[str, float]:
    counters = kernel["counters"]
    figures = {name: value for name, value in counters.items() if not name.endswith(_NOT_COMPARED)}
    idle = 32 * counters["ptx_instructions"] - counters["ptx_lanes"]
    of_machine_code = {name: value for name, value in kernel.get("ptxas", {}).items() if isinstance(value, (int, float))}
    return {"launches": kernel["launches"], "unique_sectors": kernel["unique_sectors"], **figures, "idle_lanes": idle, **of_machine_code}


def compare(old: Dict[str, Dict[str, float]], new: Dict[str, Dict[str, float]]) -> Tuple[List[Change], List[str]]:
    """Returns (counters that differ, messages about kernels and counters that only one file has)."""
    changes: List[Change] = []
    missing = [f"{kernel}: only in the {which} file" for which, these, those in (("old", old, new), ("new", new, old))
               for kernel in these if kernel not in those]  # fmt: skip
    for kernel in (kernel for kernel in new if kernel in old):
        was, now = old[kernel], new[kernel]
        missing += [f"{kernel}: {name} is in one file only" for name in {**was, **now} if name not in was or name not in now]
        changes += [Change(kernel, name, was[name], now[name]) for name in now if name in was and was[name] != now[name]]
    return changes, missing


def run(arguments: argparse.Namespace) -> int:
    """Runs `kernkit compare` for two files of counters. Returns the exit code: 1 if a counter is worse, otherwise 0.
    Raises UserError if the files have no kernel in common."""
    old, new = load(arguments.old), load(arguments.new)
    if not set(old) & set(new):
        raise UserError(f"{arguments.old} and {arguments.new} have no kernel in common; compare runs of the same program")
    changes, missing = compare(old, new)
    tolerance = arguments.tolerance or 0.0
    worse = [change for change in changes if change.worse > tolerance]
    for change in sorted(changes, key=lambda change: -change.worse):
        verdict = "worse" if change in worse else "better" if change.worse < 0 else "same"
        if verdict != "same" or arguments.all:
            print(f"{verdict:<8} {change.kernel}: {change.counter} {change.old:g} -> {change.new:g} ({change.worse:+.1%})")
    for line in missing:
        print(f"not compared: {line}")
    print(f"{len(set(old) & set(new))} kernels: {len(worse)} counters worse")
    return 1 if worse else 0
