# SPDX-License-Identifier: Apache-2.0
"""./kk matrix: its cells, its outcomes with tools that fail or are missing, and the tables of docs/tested-versions.md."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MATRIX = ROOT / "tests/matrix"


@pytest.fixture(scope="module")
def matrix():
    """Yields {name: module} for the modules of tests/matrix."""
    sys.path.insert(0, str(MATRIX))
    try:
        import cells
        import record
        import tools
        import work

        yield {"cells": cells, "record": record, "tools": tools, "work": work}
    finally:
        sys.path.remove(str(MATRIX))
        for name in ("cells", "record", "tools", "work"):
            sys.modules.pop(name, None)


def test_the_page_has_the_tables_of_the_record(matrix):
    record = matrix["record"]
    text = record.PAGE.read_text()
    assert text.count("<!-- matrix of ") == len(record.HEADS)
    assert text == record.page_with(text, record.load(record.RECORD)), "python tests/matrix/record.py writes the tables again"


def test_the_record_has_cells_of_the_matrix_and_no_failure(matrix):
    rows = matrix["record"].load(matrix["record"].RECORD)["cells"]
    names = [(row["axis"], row["name"]) for row in rows]
    assert rows and names == [name for cell in matrix["cells"].CELLS if (name := (cell.axis, cell.name)) in names]
    assert [row["name"] for row in rows if row["result"] != "passed"] == []
    assert all(row["version"] and row["checks"] and min(row["checks"].values()) > 0 for row in rows)


def test_a_cell_that_is_not_in_the_record_is_not_shown(matrix):
    rows = [{"axis": "compiler", "name": "g++-12", "version": "12.2.0", "result": "passed", "checks": {"contract_test": 72}, "reason": ""}]
    lines = matrix["record"].table("compiler", rows)
    assert lines[2:4] == ["| g++-12 | 12.2.0 | passed | contract_test 72 |", "| g++-11 |  | not shown | not in the record |"]


def test_readme_names_the_versions_that_passed(matrix):
    """The rows of compilers, CUDA and Python in README's table of systems have the versions of the record."""
    rows = matrix["record"].load(matrix["record"].RECORD)["cells"]
    text = (ROOT / "README.md").read_text()
    supported = {name: cells for name, cells in re.findall(r"^\| (compiler|Python) \| ([^|]*)\|", text, re.MULTILINE)}
    for family in ("g++", "clang++"):
        passed = sorted(int(re.split("[- ]", row["name"])[1]) for row in rows if row["axis"] == "compiler" and re.split("[- ]", row["name"])[0] == family)
        assert f"{family} {listed(passed)}" in supported["compiler"]
    assert supported["Python"].startswith(listed(sorted((row["name"] for row in rows if row["axis"] == "Python"))))


def listed(names):
    """Returns the names as one text, such as "11 and 12" or "13, 14 and 15"."""
    words = [str(name) for name in names]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def run(*words):
    return subprocess.run([sys.executable, "-B", MATRIX, *words], capture_output=True, text=True)


def test_an_unknown_word_is_rejected():
    result = run("g++-99")
    assert result.returncode == 2
    assert result.stderr.startswith('./kk matrix: "g++-99" is neither an axis nor a cell of the matrix; axes: compiler, standard, CUDA, Python, apache-tvm-ffi;')


def test_words_choose_cells(matrix):
    chosen = matrix["cells"].chosen
    assert [cell.name for cell in chosen(["Python", "g++-11"])] == ["g++-11", "3.11", "3.10"]
    assert len(chosen([])) == len(matrix["cells"].CELLS)


# A program that runs ./kk matrix with two cells in place of the cells of the matrix: in the cell "fake", a shell script
# replaces the test program; the compiler of the cell "absent" is missing.
PROGRAM = """
import pathlib, sys
sys.path.insert(0, {matrix!r})
import cells, tools, work
folder = pathlib.Path({folder!r})
for module in (tools, work):
    module.FOLDER = folder
program = folder / "fake_test"
program.write_text("#!/bin/sh\\n{script}\\n")
program.chmod(0o755)
cells.CELLS[:] = [cells.Cell("compiler", "fake", "fake"), cells.Cell("compiler", "absent", "absent")]
import importlib.util
main = importlib.util.spec_from_file_location("matrix_main", {matrix!r} + "/__main__.py")
module = importlib.util.module_from_spec(main)
main.loader.exec_module(module)
kinds = {{"fake": lambda run: run.run_tests(program), "absent": lambda run: tools.program("g++-fake")}}
sys.exit(module.main(["--output", str(folder / "record.json")], kinds))
"""


@pytest.mark.parametrize(
    "script, code, result, reason",
    [
        ("echo '[  PASSED  ] 12 tests.'", 0, "passed", ""),
        ("echo 'a.cc:1: error: planted'; exit 3", 1, "failed", "fake_test ended with exit code 3: a.cc:1: error: planted"),
        ("echo nothing", 1, "failed", "fake_test ran no test"),
    ],
)
def test_outcomes(tmp_path, script, code, result, reason):
    program = PROGRAM.format(matrix=str(MATRIX), folder=str(tmp_path), script=script.replace("'", '\\"'))
    completed = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True)
    assert completed.returncode == code, completed.stderr
    fake, absent = json.loads((tmp_path / "record.json").read_text())["cells"]
    assert (fake["result"], fake["reason"]) == (result, reason)
    assert fake["checks"] == ({"fake_test": 12} if result == "passed" else {})
    assert absent["result"] == "not shown" and absent["reason"] == "g++-fake is not installed; install Debian's package g++-fake"
    assert (tmp_path / "compiler-fake/log").read_text().startswith("$ ")
    assert (code == 1) == ("failed: fake; build/matrix/CELL/log has the output" in completed.stderr)


def test_entries_of_cells_that_did_not_run_again_remain(matrix):
    merged = matrix["record"].merged
    old = [{"axis": "compiler", "name": name, "result": "passed"} for name in ("g++-12", "g++-11", "removed")]
    new = [{"axis": "compiler", "name": "g++-11", "result": "failed"}]
    assert [(row["name"], row["result"]) for row in merged(old, new)] == [("g++-12", "passed"), ("g++-11", "failed")]


@pytest.mark.slow
def test_a_cell_is_built_and_tested(tmp_path):
    """The cell g++-12 is built and passes its tests, which takes about a minute of processor time."""
    result = run("--output", tmp_path / "record.json", "g++-12")
    assert result.returncode == 0, result.stdout + result.stderr
    (row,) = json.loads((tmp_path / "record.json").read_text())["cells"]
    if row["result"] == "not shown":
        pytest.skip(row["reason"])
    assert row["result"] == "passed" and row["checks"]["contract_test"] > 50
