# SPDX-License-Identifier: Apache-2.0
"""`kernkit sanitize --tool determinism`: the first launch whose output bits differ between seeds, and its causes."""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from cuda_tools import tool
from kernkit import cli
from kernkit.simulator import determinism

SOURCE = pathlib.Path(__file__).parent / "determinism.cu"
ATOMIC = r"Atomic access \(\S+ \(inlined at determinism.cu:{}\)\)"


def line_of(text):
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def run(root, tmp_path_factory):
    runtime, nvcc = root / "build/release/kernkit_cudart/libcudart.so.13", tool("nvcc")
    if not runtime.exists() or nvcc is None:
        pytest.skip("no CUDA compiler, which builds the program for the tool")
    program = tmp_path_factory.mktemp("determinism") / "determinism"
    subprocess.run([nvcc, "-rdc=true", "-arch=compute_80", "-cudart", "shared", "-lineinfo", "-o", program, SOURCE, "-lcudadevrt"], check=True)

    def run_tool(name, *options, ran=program):
        arguments = [sys.executable, "-B", "-m", "kernkit", "sanitize", "--tool", "determinism", "--runtime", runtime, *options, ran, name]
        environment = {name: value for name, value in os.environ.items() if name != "KERNKIT_SEED"}
        return subprocess.run([*map(str, arguments)], capture_output=True, text=True,
                              env={**environment, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip

    return run_tool


@pytest.mark.parametrize("name, launches", [("fixed", 2), ("equal_values", 3), ("nothing", 0)])
def test_a_deterministic_program_is_silent(run, name, launches):
    """Sums in one order, atomics of integers, and stores of one value give the same bits with every seed."""
    result = run(name)
    assert (result.returncode, result.stdout) == (0, "done\n" * 4 if launches else ""), result.stderr
    assert result.stderr == (f"kernkit sanitize: determinism compared {launches} launches of 4 runs\n"
                             "kernkit sanitize: 0 findings (determinism: 0)\n")  # fmt: skip


DIFFERS = r"Output differs between seed 0 and seed \d "


@pytest.mark.parametrize(
    "name, place, causes",
    [("sums", r"byte 12 of allocation 2 \(4096 bytes by cudaMalloc\(\)\)", ["written by: " + ATOMIC.format(line_of("sums of floats"))]),
     ("sums_variable", r"byte 0 of variable total \(4 bytes\)", ["written by: " + ATOMIC.format(line_of("atomicAdd(&total"))]),
     ("sums_shared", r"byte \d+ of allocation 2 \(.*\)", [rf"written by: Write access \(determinism.cu:{line_of('if (threadIdx.x == 0) y[blockIdx.x] = sum')}\)",
                                                         "order of several warps: " + ATOMIC.format(line_of("sums of a block"))]),
     ("compacts", r"byte 0 of allocation 2 \(.*\)", [rf"written by: Write access \(determinism.cu:{line_of('stores there')}\)",
                                                     "order of several warps: " + ATOMIC.format(line_of("takes a place"))]),
     ("parent", r"byte 12 of allocation 2 \(.*\)", ["written by: " + ATOMIC.format(line_of("sums of floats"))])],
)  # fmt: skip
def test_atomics_whose_order_changes_bits(run, tmp_path, name, place, causes):
    result = run(name, "--json", tmp_path / "f.json")
    assert result.returncode == 1 and "kernkit sanitize: 1 finding (determinism: 1)\n" in result.stderr, result.stderr
    kernel = {"parent": "sums"}.get(name, name)
    lines = [rf"determinism: {kernel}: launch 2: {DIFFERS}at {place}: 0x[0-9a-f]{{8}} and 0x[0-9a-f]{{8}}; \d+ bytes? differs?",
             *(f"determinism:   {cause}" for cause in causes)]  # fmt: skip
    found = [line for line in result.stderr.splitlines() if line.startswith("determinism")]
    assert len(found) == len(lines) and all(map(re.fullmatch, lines, found)), result.stderr
    (finding,) = json.loads((tmp_path / "f.json").read_text())["findings"]
    assert finding["launch"] == 2 and finding["seeds"][0] == 0 and len(finding["causes"]) == len(causes)


@pytest.mark.parametrize(
    "name, words",
    [("raced", [rf"Write access at byte \d+ of shared memory \(determinism.cu:{line_of('races with the load')}\) and Read access by "
                rf"thread \[\d+, 0, 0\] \(determinism.cu:{line_of('races with the store')}\), with no barrier between that orders them"]),
     ("last_block", [r"and Write access by block \[\d+, 0, 0\], thread \[0, 0, 0\] \(determinism.cu:"
                     rf"{line_of('all blocks store here')}\), with nothing between that orders them"])],
)  # fmt: skip
def test_races_that_change_bits(run, name, words):
    result = run(name)
    assert result.returncode == 1, result.stderr
    assert re.search(f"^determinism: {name}: launch 2: {DIFFERS}", result.stderr, re.MULTILINE), result.stderr
    for word in words:
        assert re.search(f"^determinism:   race: {name}: .*{word}$", result.stderr, re.MULTILINE), result.stderr


def test_the_first_launch_of_a_graph(run):
    """A node of a graph is reported as the first launch that differs. Nodes have launch numbers: launch 1 precedes the
    graph, and the node `sums` is launch 3."""
    result = run("graph")
    assert re.search(f"^determinism: sums: launch 3: {DIFFERS}", result.stderr, re.MULTILINE), result.stderr
    assert "determinism compared 6 launches of 4 runs" in result.stderr


def test_an_input_that_changes_from_run_to_run(run):
    result = run("inputs", "--seeds", "2")
    assert re.search(f"^determinism: fixed: launch 1: {DIFFERS}", result.stderr, re.MULTILINE), result.stderr
    assert "determinism:   the memory differed before the launch: in the 4096 bytes at byte 0 of allocation 1 (4096 bytes by" in result.stderr
    assert "determinism:   two runs with seed 0 differ, too: the program has an input that changes from run to run\n" in result.stderr


def test_addresses_are_those_of_the_first_run(run):
    personality = ctypes.CDLL(None).personality
    before = personality(determinism.CURRENT)
    with determinism.fixed_addresses():
        is_fixed = personality(determinism.CURRENT) & determinism.FIXED_ADDRESSES != 0
        assert os.environ["PYTHONHASHSEED"] != ""
    assert personality(determinism.CURRENT) == before
    if not is_fixed:
        pytest.skip("the system does not let a program fix its addresses")
    assert run("stores_addresses").returncode == 0


def test_an_op_in_a_contract_test(root, run):
    """The seed of the tool overrides the seeds that a contract test sets, so that the runs of the tool can be
    compared."""
    program = root / "build/release/bin/contract_on_ptx_test"
    if not program.exists():
        pytest.skip("the contract tests are not built")
    result = run("--gtest_filter=*scale*RunsOnCuda*:*scale*CallersStream*", "--seeds", "2", ran=program)
    assert result.returncode == 0, result.stdout + result.stderr
    (launches,) = re.findall(r"determinism compared (\d+) launches of 2 runs", result.stderr)
    assert int(launches) > 13 and "0 findings (determinism: 0)" in result.stderr


@pytest.mark.parametrize("seeds", (0, 1))
def test_one_run_has_nothing_to_compare(capfd, seeds):
    assert cli.main(["sanitize", "--tool", "determinism", "--seeds", str(seeds), "x"]) == 3
    assert capfd.readouterr().err == f"kernkit: --seeds: expected 2 or more with determinism, found {seeds}\n"


FIRST = "1 1 0a fill\n2 1 0b add<float, 4>\n2 2 0c add<float, 4>\n"


def test_first_difference():
    def first(*texts, processes=1):
        return determinism.first_difference([(seed, [text] * processes) for seed, text in enumerate(texts, 5)])

    assert first(FIRST, FIRST) is None
    assert first(FIRST, FIRST, FIRST.replace("0c", "0d")) == (0, (2, 2), "add<float, 4>", (5, 7), "0c", "add<float, 4>")
    # A record may contain several lines for a launch, because kernels that the launched kernel launches add lines. Only
    # the last of these lines is compared.
    assert first(FIRST + "1 1 0e child\n", "1 1 0e child\n" + FIRST.split("\n", 1)[1]) is None
    missing = first(FIRST, "1 1 0a fill\n")
    assert missing[1:] == ((2, 1), "add<float, 4>", (5, 6), "0b", "")
    assert determinism.explained(missing, lambda *_: [])["sentence"] == (
        "add<float, 4>: launch 2: The launch is missing with seed 6, and present with seed 5")
    more = first("1 1 0a fill\n", FIRST)
    assert determinism.explained(more, lambda *_: [])["sentence"] == (
        "add<float, 4>: launch 2: The launch is missing with seed 5, and present with seed 6")
    other = first(FIRST, FIRST.replace("fill", "copy"))
    assert determinism.explained(other, lambda *_: [])["sentence"] == "fill: launch 1: The launch runs copy with seed 6, and fill with seed 5"


OUTPUTS = """kernel k
memory allocation 1 (8 bytes by cudaMalloc())
operation Write access (k.cu:5)
operation Atomic access (k.cu:6)
set
set 0
set 0 1
chunk 0 0 8 11 0000000000000000 {} 00010002
"""


def test_bytes_that_one_run_did_not_change():
    """Two runs are compared correctly if only one run changed a chunk of memory. The outputs of the other run lack the
    chunk, so the bytes before the launch are used, which the first run recorded."""
    a = determinism.Outputs(OUTPUTS.format("0000000001000000"))
    b = determinism.Outputs(OUTPUTS.split("chunk")[0] + "chunk 0 0 8 11\n")
    expected = ["written by: Atomic access (k.cu:6)", "written by: Write access (k.cu:5)"]
    assert determinism.compared(a, b) == ("at byte 4 of allocation 1 (8 bytes by cudaMalloc()): 0x00000001 and 0x00000000; 1 byte differs", expected)
    assert determinism.compared(b, a)[0].startswith("at byte 4 of allocation 1 (8 bytes by cudaMalloc()): 0x00000000 and 0x00000001")
    assert determinism.compared(a, a) == ("", [])


def test_a_difference_without_a_race_or_atomic():
    """If neither a race nor an atomic explains a difference, the access that wrote the bytes is reported as the cause,
    for example in a kernel that stores clock64()."""
    difference = determinism.Difference(0, (1, 1), "k", (0, 1), "0a", "k")
    reports = {0: "0000000001000000", 1: "0000000002000000"}

    def describe(seed, launch):
        assert launch == "1:1"
        text = OUTPUTS.format(reports[seed]).replace("set 0 1", "set 0")
        return [{"launches": "1 1 0a k\n", "outputs": text, "findings": []}]

    finding = determinism.explained(difference, describe)
    assert finding["causes"] == ["written by: Write access (k.cu:5)", "no race and no order of atomics was found in the launch"]
