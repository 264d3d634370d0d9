# SPDX-License-Identifier: Apache-2.0
"""Tests `kernkit replay --minimize`, which reduces a recorded call to a small call that fails in the same way."""

import ctypes
import itertools
import os
import random
import subprocess
import sys

import called
import numpy as np
import pytest
from kernkit import cli
from kernkit.calls import recording
from kernkit.calls.minimize import minimize, reduce_size
from kernkit.calls.recording import Recording, Results, Storage, Value
from kernkit.calls.replay import Outcome
from kernkit.calls.sizes import Selection, Sizes
from kernkit.calls.slices import part_of
from kernkit.calls.trial import Trial
from kernkit.schema import Op, Size
from kernkit.schema import Value as Parameter


def recorded(folder, code, code_of_exit=0):
    called.run(code, code_of_exit, KERNKIT_RECORD=str(folder), KERNKIT_RECORD_CALLS="all")
    (path,) = folder.iterdir()
    return path


def minimized(path, new, library="called_ops"):
    """Runs the command. Fails if the recording changed."""
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    code = cli.main(["replay", str(path), "--library", str(called.library(library)), "--minimize", str(new)])
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    return code


def values_of(call):
    return {value.name: np.frombuffer(call.storages[value.storage].content, "float32").reshape(value.shape) for value in call.arguments}


def test_a_crash_keeps_the_element_that_causes_it(root, tmp_path, capfd):
    code = """
x = np.arange(6 * 10, dtype="float32").reshape(6, 10)
x[4, 2] = 2000
ops.gated(np.zeros((6, 5), "float32"), x, np.arange(5, dtype="float32"))
"""
    path, new = recorded(tmp_path / "calls", code, -6), tmp_path / "smaller/call"
    assert minimized(path, new) == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first == "gated: SIGABRT ended the process"
    assert "; y [6, 5] -> [1, 1], x [6, 10] -> [1, 2], weight [5] -> [1]; " in second and second.endswith(f"; {new} has the call")
    call = recording.read(new)
    values = values_of(call)
    assert values["x"].tolist() == [[2000, 47]] and values["weight"].tolist() == [2]
    assert (call.results, call.is_part, call.arguments[1].strides) == (None, True, (2, 1))
    assert [a.address for a in call.arguments] == [a.address for a in recording.read(path).arguments]
    command = [sys.executable, "-m", "kernkit", "replay", new, "--library", called.library()]
    again = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root / "sdk/python")}, capture_output=True, text=True)
    assert (again.returncode, again.stdout) == (1, "gated: SIGABRT ended the process of this call; the recorded call has other sizes\n")


def test_a_difference_keeps_the_elements_that_differ(tmp_path, capfd):
    code = """
x = np.arange(6 * 10, dtype="float32").reshape(6, 10)
x[3, 1] = x[3, 6] = -3
ops.gated(np.zeros((6, 5), "float32"), x, np.arange(5, dtype="float32"))
"""
    path, new = recorded(tmp_path / "calls", code), tmp_path / "smaller"
    assert minimized(path, new, "called_ops_again") == 0
    assert values_of(recording.read(new))["x"].tolist() == [[-3, -3]]
    for library, code, text in (("called_ops_again", 1, "y: 1 of 1 elements differ: [0, 0] was 10.0 and is -8.0"), ("called_ops", 0, "equal: y")):
        assert cli.main(["replay", str(new), "--library", str(called.library(library))]) == code
        assert capfd.readouterr().out.splitlines()[-1] == f"gated: {text}"


def test_a_size_whose_elements_depend_on_each_other_stays(tmp_path):
    """--minimize leaves out whole rows only, because the sum of a part of a row differs from the recorded sum of the
    row."""
    code = "x = np.ones((6, 10), 'float32'); x[4, 3] = -1; ops.row_sums(np.zeros(6, 'float32'), x)"
    path, new = recorded(tmp_path / "calls", code), tmp_path / "smaller"
    assert minimized(path, new, "called_ops_again") == 0
    call = recording.read(new)
    assert [a.shape for a in call.arguments] == [(1,), (1, 10)]
    assert np.frombuffer(call.results.written[0], "float32").tolist() == [8]


def test_an_error_keeps_its_text_apart_from_numbers(tmp_path, capfd):
    path, new = recorded(tmp_path / "calls", "try: ops.fail(np.zeros((9, 7), 'float32'))\nexcept ValueError: pass"), tmp_path / "smaller"
    assert minimized(path, new) == 0
    assert recording.read(new).results.error == "ValueError: fail(): x: the line\nof [1, 1]"
    assert cli.main(["replay", str(new), "--library", str(called.library())]) == 0


def test_a_call_that_does_not_fail_is_rejected(tmp_path, capfd):
    path = recorded(tmp_path / "calls", "ops.ignore(x)")
    assert minimized(path, tmp_path / "new") == 3
    assert capfd.readouterr().err == "kernkit: ignore: the results are equal, so there is no failure to keep\n" and not (tmp_path / "new").exists()
    assert minimized(path, tmp_path) == 3
    assert capfd.readouterr().err == f"kernkit: --minimize: {tmp_path} exists; name a folder that does not exist\n"


class FindingsOfSizes:
    """A runner that reports a finding in line 7 for calls with two or more elements, and a finding in line 8 for calls
    with one or more elements."""

    command, count = ["sanitize"], 0

    def run(self, call):
        self.count += 1
        (size,) = call.arguments[0].shape
        lines = [line for line, least in ((7, 2), (8, 1)) if size >= least]
        findings = [{"tool": "initcheck", "sentence": f"Uninitialized bits at byte {4 * size} (k.cu:{line})"} for line in lines]
        return Trial(None, Outcome(None, None, False, {0: call.storages[0].content}), tuple(findings), 0.1)


def test_one_of_several_findings_is_enough(tmp_path):
    path = recorded(tmp_path / "calls", "ops.ignore(np.zeros(1025, 'float32'))")
    smaller = minimize(recording.read(path), FindingsOfSizes(), None, 0)
    assert [value.shape for value in smaller.recording.arguments] == [(1,)]
    assert smaller.failure.text == "initcheck: Uninitialized bits at byte 4 (k.cu:8)"


def test_intervals_are_reduced_to_what_fails():
    generator = random.Random(1)
    for _ in range(200):
        size = generator.randrange(1, 200)
        low = generator.randrange(size)
        high = generator.randrange(low, size)
        state, calls = [(0, size)], itertools.count()

        def attempt(interval, low=low, high=high, state=state, calls=calls):
            next(calls)
            fails = interval[0] <= low and high < sum(interval)
            if fails:
                state[0] = interval
            return fails

        reduce_size(lambda state=state: state[0], attempt)
        assert state[0] == (low, high - low + 1)
        assert next(calls) <= 6 * size.bit_length() + 2


def test_a_failure_of_one_remainder_is_reduced_by_powers_of_two():
    for size in (1025, 3073, 5121, 65537):
        state = [(0, size)]

        def attempt(interval, state=state):
            fails = interval[1] % 1024 == 1
            if fails:
                state[0] = interval
            return fails

        reduce_size(lambda state=state: state[0], attempt)
        assert state[0][1] == 1


def layouts(generator):
    """Returns arrays of every layout: transposed, with gaps, with negative and zero strides, of one element."""
    a = np.asarray(generator.sample(range(1000), 6 * 4 * 5), "int32").reshape(6, 4, 5)
    return [a, a.transpose(2, 0, 1), a[::2, 1:], a[:, ::-1], a[:, :1].copy(), np.broadcast_to(a[:, :1], a.shape), a[0, 0], a[1:2, 2:3, 0], a[2:].copy()[1:]]


def range_of(array):
    """Returns (first byte, end) of an array's memory, relative to the first element [bytes]."""
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    return sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach) + array.itemsize


def inverted(content):
    return bytes(255 - byte for byte in content)


def call_of(array):
    """Returns a recorded call with one array, which the call overwrites with its inverted bits."""
    low, high = range_of(array)
    content = ctypes.string_at(array.ctypes.data + low, high - low)
    value = Value("x", "tensor", None, array.shape, tuple(s // 4 for s in array.strides), (0, 32, 1), (1, 0), 4096, 0, True, True, 0)
    results = Results(None, None, {0: inverted(content)}, 0)
    return Recording(None, "op", "() -> ()", "lib", [value], [Storage((1, 0), 4096 + low, high - low, content)], None, results)


def array_of(call, value, content):
    at = value.address - call.storages[value.storage].address
    return np.ndarray(value.shape, "int32", content, at, [4 * stride for stride in value.all_strides()])


@pytest.mark.parametrize("seed", range(20))
def test_parts_have_the_selected_elements(seed):
    generator = random.Random(seed)
    for array in layouts(generator):
        call, runs, indices = call_of(array), {}, []
        for axis, size in enumerate(array.shape):
            start = generator.randrange(size)
            runs[0, axis] = [(start, generator.randrange(1, size - start + 1))]
            indices.append(np.arange(start, sum(runs[0, axis][0])))
        part, (results,) = part_of(call, Selection(runs, {}), [call.results.written])
        (value,) = part.arguments
        expected = array[np.ix_(*indices)]
        assert array_of(part, value, part.storages[0].content).tolist() == expected.tolist()
        assert array_of(part, value, inverted(results[0])).tolist() == expected.tolist()
        assert (part.is_part, part.results, value.is_object) == (True, None, True)
        if array.flags.c_contiguous:
            assert value.address == 4096 and value.num_elements() * 4 == part.storages[0].size == len(results[0])


def test_parts_of_tensors_that_overlap_share_memory():
    z = np.arange(40, dtype="int32").reshape(8, 5)
    call = call_of(z)
    (whole,) = call.arguments
    y, x = (whole._replace(name=name, shape=(6, 5), address=4096 + at * 20) for name, at in (("y", 0), ("x", 2)))
    part, _ = part_of(call._replace(arguments=[y, x]), Selection({(0, 0): [(1, 3)], (1, 0): [(1, 3)]}, {}), [])
    (storage,) = part.storages
    assert storage == Storage((1, 0), 4096 + 20, 100, z[1:6].tobytes())
    assert [array_of(part, value, storage.content).tolist() for value in part.arguments] == [z[1:4].tolist(), z[3:6].tolist()]
    part, _ = part_of(call._replace(arguments=[y, x]), Selection({(0, 0): [(0, 1)], (1, 0): [(0, 1)]}, {}), [])
    assert [(s.address, s.size) for s in part.storages] == [(4096, 20), (4136, 20)]


def test_sizes_of_a_schema_line_change_together():
    def tensor(name, *shape):
        return Value(name, "tensor", None, shape, None, (0, 32, 1), (1, 0), 4096, storage=0)

    def scaled(name, factor=1):
        return Size("scaled", name if factor == 1 else ("*", str(factor), name), name, factor)

    shapes = [(scaled("n"), scaled("d", 2)), (scaled("n"), Size("sum", ("ceil_div", "d", "k"))), (Size("any"), Size("sum", ("+", "n", "1")))]
    parameters = [Parameter("Tensor", name, shape=shape) for name, shape in zip("abc", shapes)]
    op = Op("op", "", [*parameters, Parameter("int", "k"), Parameter("Tensor", "e"), Parameter("Tensor", "f", shape=(Size("run"),))], [])
    arguments = [tensor("a", 6, 20), tensor("b", 6, 3), tensor("c", 6, 7), Value("k", "int", 4), tensor("e", 10, 11), tensor("f", 3, 9)]
    sizes = Sizes(arguments, op)
    assert sizes.values == {"k": 4, "n": 6, "d": 10, "c[0]": 6, "...[0]": 3, "...[1]": 9, "=11": 11}
    state = sizes.whole()
    assert sizes.select({**state, "d": (6, 2)}).runs == {(0, 1): [(6, 2), (16, 2)], (1, 1): [(1, 1)], (3, 0): [(6, 2)]}
    assert sizes.select({**state, "n": (2, 3)}).runs == {(0, 0): [(2, 3)], (1, 0): [(2, 3)], (2, 1): [(2, 4)]}
    assert sizes.select({**state, "k": (0, 3)}) is None  # a smaller k would increase ceil_div(d, k)
    assert sizes.select({**state, "...[1]": (8, 1)}).runs == {(4, 1): [(8, 1)]}


def test_int_arguments_follow_sizes_outside_of_the_line():
    arguments = [Value("x", "tensor", None, (8, 3), None, (0, 32, 1), (1, 0), 4096, storage=0), Value("n", "int", 8), Value("m", "int", 5)]
    sizes = Sizes(arguments, None, follow=True)
    assert sizes.can_follow and sizes.select({**sizes.whole(), "=8": (4, 4)}) == Selection({(0, 0): [(4, 4)]}, {1: 4})
    assert Sizes(arguments, None).select({"=8": (4, 4), "=3": (0, 3)}) == Selection({(0, 0): [(4, 4)]}, {})
