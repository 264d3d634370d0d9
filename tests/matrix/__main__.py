# SPDX-License-Identifier: Apache-2.0
"""./kk matrix: builds and tests a part of kernkit with each compiler, standard, CUDA version, Python and apache-tvm-ffi of
the matrix, one axis at a time.

    python tests/matrix [--output FILE] [AXIS | CELL...]

Compilers of Debian must be installed; packages of PyPI are installed into build/matrix/environments. The program prints
a line for each cell and writes the entries to FILE, by default build/matrix/record.json. Entries in FILE of cells that
did not run again are kept. The exit code is 1 if a cell failed, 2 if a word is neither an axis nor a cell.
build/matrix/CELL/log contains the output of the programs.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any, Callable, Dict, List

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench/python")]

from cells import Cell, chosen  # noqa: E402
from record import FAILED, PASSED, UNAVAILABLE, checks_text, entry, load, merged  # noqa: E402
from rows import processor  # noqa: E402
from tools import FOLDER, ROOT, Failed, NotShown  # noqa: E402
from work import WORK, Run  # noqa: E402


def outcome(cell: Cell, work: Dict[str, Callable[[Run], None]]) -> Dict[str, Any]:
    """Runs a cell and returns its entry of the record."""
    run = Run(cell)
    try:
        work[cell.work](run)
    except NotShown as reason:
        return entry(cell, run, UNAVAILABLE, str(reason))
    except Failed as reason:
        return entry(cell, run, FAILED, str(reason))
    return entry(cell, run, PASSED)


def context() -> Dict[str, Any]:
    """Returns the context of a record: the machine, the commit and the date."""
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
    git = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return {"system": system, "processor": processor(), "cores": os.cpu_count(), "commit": git.stdout.strip(),
            "date": datetime.date.today().isoformat()}  # fmt: skip


def main(words: List[str], work: Dict[str, Callable[[Run], None]] = WORK) -> int:
    parser = argparse.ArgumentParser(prog="./kk matrix", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=FOLDER / "record.json", metavar="FILE")
    parser.add_argument("words", nargs="*", metavar="AXIS | CELL")
    arguments = parser.parse_args(words)
    try:
        cells = chosen(arguments.words)
    except ValueError as error:
        print(f"./kk matrix: {error}", file=sys.stderr)
        return 2
    entries: List[Dict[str, Any]] = []
    for cell in cells:
        row = outcome(cell, work)
        entries.append(row)
        print(f"{cell.axis:<15} {cell.name:<18} {row['version']:<16} {row['result']:<10} {row['processor_s']:6.1f} s  {checks_text(row)}", flush=True)
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        record = {**context(), "cells": merged(load(arguments.output)["cells"], entries)}
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    failed = [row["name"] for row in entries if row["result"] == FAILED]
    if failed:
        print(f"failed: {', '.join(failed)}; build/matrix/CELL/log has the output", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
