# SPDX-License-Identifier: Apache-2.0
"""`kernkit sanitize` finds the faults planted in tests/faults/tools, at their lines, and nothing without
them.

Run as a program, this file writes the table of docs/planted-faults.md again:
python tests/project/test_planted_faults.py"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest
from cuda_tools import tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "sdk/python"))
from kernkit.commands import sanitize  # noqa: E402
from kernkit.simulator.program import run_with_tools  # noqa: E402

SOURCES = ("shared_memory.cu", "global_memory.cu", "locks.cu", "streams.cu", "graphs.cu", "repairs.cu")
FOLDER, PAGE = ROOT / "tests/faults/tools", ROOT / "docs/planted-faults.md"
RUNTIME = ROOT / "build/release/kernkit_cudart/libcudart.so.13"
CALL = re.compile(r'^FAULT\((\w+),\s*((?:"[^"]*"[,\s]*)+)\)', re.MULTILINE)


def read_faults():
    """Yields (name, description, the tools that report the fault, their level, source file, the lines that the first
    tool names) of each fault."""
    for source in SOURCES:
        text = (FOLDER / source).read_text()
        assert len(CALL.findall(text)) == text.count("FAULT(")
        for name, parameters in CALL.findall(text):
            description, tools, *markers = re.findall('"([^"]*)"', parameters)
            marked = "|".join((markers[0] if markers else name).split(", "))
            lines = [number for number, line in enumerate(text.splitlines(), 1) if re.search(rf"  // ({marked})( \d)?$", line)]
            by_level = tools.removesuffix(", warn")
            yield name, description, [] if tools == "none" else by_level.split(", "), "warn" if by_level != tools else "error", source, lines


FAULTS = {fault[0]: fault[1:] for fault in read_faults()}


def build(folder):
    """Builds all faults as one program, compiled in parallel and for PTX only."""
    objects = {source: folder / f"{source}.o" for source in (*SOURCES, "main.cu")}
    arguments = [tool("nvcc"), "-arch=compute_90", "-cudart", "shared", "-lineinfo", "-w"]
    compiling = [subprocess.Popen([*arguments, "-c", "-o", to, FOLDER / source]) for source, to in objects.items()]
    assert [process.wait() for process in compiling] == [0] * len(objects)
    subprocess.run([*arguments, "-o", folder / "faults", *objects.values()], check=True)
    return folder / "faults"


def findings_of(program, *name, level="error"):
    """Returns the findings of all tools for one fault, or for the program without faults."""
    arguments = argparse.Namespace(program=str(program), arguments=list(name), runtime=str(RUNTIME), seed=None, devices=None, capability=None, device_summation=None,
                                   nvcc_options="")
    levels = {"KERNKIT_RACECHECK_DETECT_LEVEL": level, "KERNKIT_SYNCCHECK_DETECT_LEVEL": level}
    code, results = run_with_tools(arguments, list(sanitize.DEFAULT_TOOLS), levels)
    assert code == 0
    return [finding for result in results for finding in result["findings"]]


def sentence_at(findings, tool_of, source, lines):
    """Returns the tool's first finding that names all of the lines."""
    for finding in findings:
        named = re.findall(rf"{source}:(\d+)\)", finding["sentence"])
        if finding["tool"] == tool_of and set(map(str, lines)) <= set(named):
            return finding["sentence"]
    raise AssertionError(f"expected {tool_of} at {source}:{lines}, got {findings}")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if not RUNTIME.exists() or tool("nvcc") is None:
        pytest.skip("no CUDA compiler, which builds the program for the tools")
    return build(tmp_path_factory.mktemp("faults"))


@pytest.mark.all
def test_planted_faults(program):
    """The tools report each planted fault at its lines. One test checks all faults, so only one worker compiles
    them."""
    reported = {name: findings_of(program, name, level=level) for name, (_, _, level, _, _) in FAULTS.items()}
    for name, (_, tools, _, source, lines) in FAULTS.items():
        assert {finding["tool"] for finding in reported[name]} == set(tools), (name, reported[name])
        if tools:
            assert lines or name == "two_copies", name  # a runtime call has no line numbers
            sentence_at(reported[name], tools[0], source, lines)
    assert PAGE.read_text() == page(reported), "the table in the page is outdated; run python tests/project/test_planted_faults.py"
    # Without the planted faults no tool reports anything, even at the level of warnings.
    assert findings_of(program, level="warn") == []
    warnings = [name for name, (_, _, level, _, _) in FAULTS.items() if level == "warn"]
    assert len(warnings) >= 7
    for name in warnings:
        assert findings_of(program, name) == [], name


def test_there_are_enough_faults():
    assert len(FAULTS) > 70  # docs/tools.md states this number
    assert {tool_of for _, tools, *_ in FAULTS.values() for tool_of in tools} == set(sanitize.DEFAULT_TOOLS)


def row(name, findings):
    description, tools, _, source, lines = FAULTS[name]
    if not tools:
        return f"| {description} | none | |"
    sentence = re.sub(r"\(\S+:\d+ \(inlined at (?:.*, )?(\S+?)\)\)", r"(\1)", sentence_at(findings, tools[0], source, lines))
    sentence = re.sub(r"(\.hp{0,2}):\d+", r"\1", sentence)  # line numbers in the toolkit's headers depend on its version
    sentence = re.sub(r"^\w+: block \[.*?\], thread \[.*?\]: |, with (nothing|no barrier|no \w+\(\)) between that orders them$", "", sentence)
    return f"| {description} | {', '.join(tools)} | `{sentence}` |"


def page(reported):
    """Returns the page with its tables written again, each after the comment that names its source."""
    text = PAGE.read_text()
    for source in SOURCES:
        rows = [row(name, reported[name]) for name, fault in FAULTS.items() if fault[3] == source]
        table = "\n".join(["| fault | reported by | report of the first tool |", "|---|---|---|", *rows])
        text, count = re.subn(rf"(<!-- faults of {source} -->\n)(\|.*\n)*", lambda match: f"{match[1]}{table}\n", text)  # noqa: B023
        assert count == 1, source
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        program = build(pathlib.Path(folder))
        PAGE.write_text(page({name: findings_of(program, name, level=fault[2]) for name, fault in FAULTS.items()}))
