# SPDX-License-Identifier: Apache-2.0
"""The record of the matrix, and the tables of docs/tested-versions.md, which are generated from the committed record.

Run as a program, this file writes the tables of the page again: python tests/matrix/record.py"""

import json
import pathlib
import re
from typing import Any, Dict, List

from cells import CELLS, NOT_SHOWN

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "bench/results/matrix/debian_12.json"
PAGE = ROOT / "docs/tested-versions.md"
PASSED, FAILED, UNAVAILABLE = "passed", "failed", "not shown"
HEADS = {"compiler": "compiler", "standard": "standard", "CUDA": "CUDA", "Python": "Python", "apache-tvm-ffi": "apache-tvm-ffi"}
_BLOCK = re.compile(r"^(<!-- matrix of (.+?) -->\n)(.*?)^(<!-- end -->)$", re.MULTILINE | re.DOTALL)


def entry(cell: Any, run: Any, result: str, reason: str = "") -> Dict[str, Any]:
    """Returns a cell's entry of the record. `processor_s` is the processor time of all steps [s]."""
    return {"axis": cell.axis, "name": cell.name, "result": result, "reason": reason, "version": run.version, "checks": run.checks,
            "processor_s": round(run.seconds, 1)}  # fmt: skip


def merged(old: List[Dict[str, Any]], new: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Returns the entries of all cells in the order of CELLS. Entries of a new run replace old entries."""
    entries = {(row["axis"], row["name"]): row for row in [*old, *new]}
    return [entries[cell.axis, cell.name] for cell in CELLS if (cell.axis, cell.name) in entries]


def load(path: pathlib.Path) -> Dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {"cells": []}


def checks_text(row: Dict[str, Any]) -> str:
    """Returns the numbers of tests, as in "contract_test 72, calls 133", or the reason if the cell did not pass."""
    return ", ".join(f"{name} {count}" for name, count in row["checks"].items()) if row["result"] == PASSED else row["reason"]


def table(axis: str, rows: List[Dict[str, Any]]) -> List[str]:
    """Returns the lines of an axis' table in Markdown: the entries of the record, then the rows of NOT_SHOWN."""
    entries = {row["name"]: row for row in rows if row["axis"] == axis}
    missing = {"version": "", "result": UNAVAILABLE, "reason": "not in the record"}
    cells = [(cell.name, entries.get(cell.name, missing)) for cell in CELLS if cell.axis == axis]
    lines = [f"| {HEADS[axis]} | version | result | tests that passed, or the reason |", "| --- | --- | --- | --- |"]
    lines += [f"| {name} | {row['version']} | {row['result']} | {checks_text(row)} |" for name, row in cells]
    lines += [f"| {name} | | {UNAVAILABLE} | {reason} |" for other, name, reason in NOT_SHOWN if other == axis]
    return lines


def page_with(text: str, record: Dict[str, Any]) -> str:
    """Returns the text of the page with its tables replaced by the tables of a record."""
    return _BLOCK.sub(lambda match: match[1] + "\n" + "\n".join(table(match[2], record["cells"])) + "\n\n" + match[4], text)


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(), load(RECORD)))
