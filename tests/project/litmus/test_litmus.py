# SPDX-License-Identifier: Apache-2.0
"""racecheck's verdicts on litmus programs agree with an enumeration of the executions that the PTX ISA allows."""

import collections
import json
import os
import re
import subprocess
import sys

import litmus_kernels
import litmus_programs
import ptx_model
import pytest
from cuda_tools import tool
from litmus_program import add, fence, ld, st
from litmus_programs import APART, TOGETHER, program

pytestmark = pytest.mark.all
X, Y = "x", "y"


def outcomes(*threads, blocks=None):
    """Returns the tuples of values that the reads of a program can return, in the order of threads and operations."""
    described = program("p", *threads, blocks=blocks)
    return {
        tuple(value for _, value in sorted(execution.values.items()))
        for execution in ptx_model.executions(described)
    }


def test_coherence_of_one_location():
    """Two relaxed reads observe a relaxed store in coherence order (CoRR of the PTX ISA), but a weak store in any
    order. A read after a store of the same thread returns the stored value."""
    assert outcomes([st(X, 1, "relaxed")], [ld(X, "relaxed"), ld(X, "relaxed")]) == {(0, 0), (0, 1), (1, 1)}
    assert (1, 0) in outcomes([st(X, 1)], [ld(X, "relaxed"), ld(X, "relaxed")])
    assert outcomes([st(X, 1), ld(X), st(X, 2)]) == {(1,)}


def test_atomicity_needs_moral_strength():
    """Two increments are atomic only if they are morally strong, as in two programs of the PTX ISA."""
    assert outcomes([add(X, 1, scope="sys")], [add(X, 1, scope="sys")]) == {(0, 1), (1, 0)}
    assert (0, 0) in outcomes([add(X, 1, scope="cta")], [add(X, 1, scope="gpu")], blocks=(0, 1))


@pytest.mark.parametrize("place, scope", (TOGETHER, APART))
def test_message_passing_forbids_a_stale_read(place, scope):
    def pass_on(publish, subscribe):
        return outcomes([st(X, 1), *publish], [*subscribe, ld(X)], blocks=place)

    released, acquired = st("f", 1, "release", scope), ld("f", "acquire", scope)
    strong = [fence("acq_rel", scope), st("f", 1, "relaxed", scope)], [ld("f", "relaxed", scope), fence("acq_rel", scope)]
    for publish, subscribe in (([released], [acquired]), strong, ([released], strong[1]), (strong[0], [acquired])):
        assert pass_on(publish, subscribe) == {(0, 0), (0, 1), (1, 1)}
    assert (1, 0) in pass_on([st("f", 1, "relaxed", scope)], [acquired])
    assert (1, 0) in pass_on([released], [ld("f", "relaxed", scope)])
    assert ((1, 0) in pass_on([st("f", 1, "release", "cta")], [acquired])) == (place == (0, 1))


def test_store_buffering_needs_a_fence_sc():
    def buffering(*between, scope="gpu"):
        return outcomes([st(X, 1, "relaxed", scope), *between, ld(Y, "relaxed", scope)],
                        [st(Y, 1, "relaxed", scope), *between, ld(X, "relaxed", scope)], blocks=(0, 1))  # fmt: skip

    assert (0, 0) in buffering() and (0, 0) in buffering(fence("acq_rel"))
    assert buffering(fence("sc")) == buffering(fence("membar")) == {(0, 1), (1, 0), (1, 1)}
    assert (0, 0) in buffering(fence("sc", "cta"))


def test_independent_reads_need_a_fence_sc():
    def reads(*between):
        return outcomes([st(X, 1, "relaxed")], [st(Y, 1, "relaxed")], [ld(X, "relaxed"), *between, ld(Y, "relaxed")],
                        [ld(Y, "relaxed"), *between, ld(X, "relaxed")], blocks=(0, 1, 2, 3))  # fmt: skip

    assert (1, 0, 1, 0) in reads() and (1, 0, 1, 0) in reads(fence("acq_rel"))
    assert (1, 0, 1, 0) not in reads(fence("sc"))


def test_causality_is_cumulative():
    """WRC and ISA2: no thread reads the old value at the end of a chain."""
    released = [ld("f", "acquire"), st("g", 1, "release")]
    end = [ld("g", "acquire"), ld(X)]
    assert (1, 1, 0) not in outcomes([st(X, 1), st("f", 1, "release")], released, end, blocks=(0, 1, 2))
    assert (1, 1, 0) in outcomes([st(X, 1), st("f", 1, "relaxed")], released, end, blocks=(0, 1, 2))
    observed = [ld(X, "relaxed"), st("g", 1, "release")]
    assert (1, 1, 0) not in outcomes([st(X, 1, "relaxed")], observed, end, blocks=(0, 1, 2))


@pytest.fixture(scope="module")
def verdicts():
    return litmus_programs.programs()


def test_the_programs_are_of_all_kinds(verdicts):
    levels = collections.Counter(found.level for found in verdicts.values())
    assert len(verdicts) >= 200 and min(levels["error"], levels["warn"], levels["none"]) >= 50, levels
    assert len({thread.block for each in verdicts for thread in each.threads}) >= 3
    for op in ("cluster.wait", "bar.red", "bar.arrive", "cas", "exch", "red", "fence"):
        assert any(each.kind == op for described in verdicts for thread in described.threads for each in thread.ops), op


def findings(root, folder, source, seed):
    """Returns {kernel: set of (level, lines of the two accesses)}."""
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    arguments = [sys.executable, "-B", "-m", "kernkit", "sanitize", "--runtime", runtime, "--tool", "racecheck",
                 "--racecheck-detect-level", "info", "--seed", seed, "--json", folder / "findings.json", folder / "litmus"]  # fmt: skip
    result = subprocess.run([*map(str, arguments)], capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip
    assert result.returncode == 1 and result.stdout == "done\n" and "incomplete" not in result.stderr, result.stderr[-2000:]
    found = collections.defaultdict(set)
    for finding in json.loads((folder / "findings.json").read_text())["findings"]:
        lines = re.findall(r"\(litmus\.cu:(\d+)\)", finding["sentence"])
        assert len(lines) == 2, finding
        places = [source.places[finding["kernel"], int(line)] for line in lines]
        found[finding["kernel"]].add((finding["level"], tuple(sorted(places))))
    return found


def test_racecheck_agrees(root, tmp_path, verdicts):
    if not (root / "build/release/kernkit_cudart/libcudart.so.13").exists() or tool("nvcc") is None:
        pytest.skip("no CUDA compiler, which builds the litmus programs")
    source = litmus_kernels.Source(list(verdicts))
    (tmp_path / "litmus.cu").write_text(source.text)
    subprocess.run([tool("nvcc"), "-arch=compute_90", "-cudart", "shared", "-lineinfo", "-o", tmp_path / "litmus", tmp_path / "litmus.cu"], check=True)  # fmt: skip
    for seed in ("0", "1"):
        found = findings(root, tmp_path, source, seed)
        different = set()
        for described, expected in verdicts.items():
            reported = {level for level, _ in found[described.name]}
            level = next((level for level in ("error", "warn") if level in reported), "none")
            if level != expected.level and not (expected.level == "either" and level != "none"):
                different.add((described.name, level, expected.level))
            # Each pair that racecheck reports must be a data race of some execution.
            pairs = {pair for level, pair in found[described.name] if level != "info"}
            if expected.pairs:
                assert pairs <= expected.pairs, (described.name, pairs - expected.pairs)
        assert not different, (seed, different)
