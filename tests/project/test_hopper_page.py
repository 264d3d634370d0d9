# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/hopper-without-a-gpu.md equal the record bench/results/hopper/programs.json."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(heading):
    """Returns the cells of each row of the table below a heading of the page."""
    page = (ROOT / "docs/hopper-without-a-gpu.md").read_text()
    lines = page.split(f"## {heading}\n")[1].split("\n##")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def record(name):
    return json.loads((ROOT / "bench/results/hopper/programs.json").read_text())[name]


def cell(value):
    return "" if value is None else str(value)


def test_kernels():
    expected = {(item["kernels"], item["decode"], item["compared"]) for item in record("kernels")}
    assert {tuple(map(int, row[1:])) for row in rows("Kernels of others")} == expected
    assert len(rows("Kernels of others")) == len(record("kernels"))


def test_programs():
    shown = [row[2:] for row in rows("Programs of others")]
    assert sorted(shown) == sorted([item["result"], cell(item["compile_s"]), cell(item["run_s"])] for item in record("programs"))


def test_every_deviation_has_a_note():
    assert [item["name"] for item in record("programs") if "right" not in item["result"] and not item["note"]] == []
