# SPDX-License-Identifier: Apache-2.0
"""Every op of tests/interop is recorded and replayed with the arguments of its tests: every type of argument, layout, offset
and alignment. The tests of an op run in a process with KERNKIT_RECORD, and each recorded call is made again by
`kernkit replay`. An op without a recording fails here."""

import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from typing import Dict, NamedTuple, Tuple

import called
import pytest
import tvm_ffi
from kernkit.calls import child, differences, recording, replay
from kernkit.errors import UserError

INTEROP = called.ROOT / "tests/interop"
EXPORT = re.compile(r"^(?:KERNKIT_EXPORT|TVM_FFI_DLL_EXPORT_TYPED_FUNC|EXPORT)\(\s*(\w+)", re.MULTILINE)
MOST_RECORDINGS, MOST_CALLS = 100, 25  # largest numbers of recordings of an op that are read, and of calls that are replayed
# Errors of `kernkit replay` for calls with an argument whose value cannot be recorded.
UNRECORDED = re.compile(r"the argument \w+ is (a function|an int beyond 64 bits|a dict|a list of \d+|a raw pointer|an? (Python )?object.*), which a "
                        r"recording cannot contain; the call cannot be repeated")  # fmt: skip
MEMORY = "its integer argument is an address of the recorded process"
ADDRESS = "its result is an address"
STREAM = "its result is the current stream"
FUNCTION = "its argument is a function"
UNINITIALISED = "its result is uninitialised memory"


class Suite(NamedTuple):
    """Tests that call the ops of a source file. `excluded` has the reason why calls of an op are not repeated, or why their
    results can differ."""

    tests: str
    library: str
    selection: str = ""
    excluded: Dict[str, str] = {}


SUITES: Dict[str, Suite] = {
    "arguments/arguments.cc": Suite("test_arguments", "arguments", excluded={"stream_of": STREAM}),
    "bindings/bindings.cc": Suite("test_bindings", "odd", "not type_checkers", {"applied": FUNCTION}),
    "callbacks/callbacks.cc": Suite("test_callbacks", "callbacks", excluded={
        "keep": "its result is the argument of an earlier call",
        **dict.fromkeys(("apply", "pass_all", "caught", "sum_after", "apply_to_shape"), FUNCTION)}),
    "tensors/tensors.cc": Suite("test_tensors", "tensors", "not outlives", {
        "address": ADDRESS, **dict.fromkeys(("import_versioned", "round_trip", "round_trip_legacy", "write_first"), MEMORY)}),
    "tvm_ffi/ops.cc": Suite("test_tvm_ffi_compat", "ours", excluded={"address": ADDRESS, "empty_like": UNINITIALISED, "stream_of": STREAM}),
    "tvm_ffi/table.cc": Suite("test_tvm_ffi_table", "ours", excluded=dict.fromkeys(("from_env", "from_env_like"), UNINITIALISED)),
    "conversions/conversions.cc": Suite("test_conversions", "conversions", "not every_float"),
    "frameworks/batches.cc": Suite("test_batches", "batches", "plain or jax"),
    "frameworks/frameworks.cc": Suite("test_torch_ops test_jax_ops", "shaped", "not reference and not structs_of_xla"),
    "frameworks/indices.cc": Suite("test_jax_ops", "indices", "64_bits"),
    "frameworks/written.cc": Suite("test_written_modules", "written"),
}  # fmt: skip
QUICK = ("arguments/arguments.cc", "bindings/bindings.cc", "callbacks/callbacks.cc", "tensors/tensors.cc", "tvm_ffi/ops.cc")
# The ops of these files, which make and copy tensors and streams of the simulator, are not recorded here: test_cuda.py
# and test_on_cpu.py replay calls with CUDA tensors.
OF_DEVICES = {"frameworks/device.cc", "frameworks/kept_on_device.cc"}


def ops_of(source):
    return EXPORT.findall((INTEROP / source).read_text())


def test_every_file_with_ops_is_recorded():
    sources = {str(path.relative_to(INTEROP)) for path in INTEROP.rglob("*.cc") if ops_of(path)}
    assert sources == set(SUITES) | OF_DEVICES


@pytest.fixture(scope="module")
def hook(root, tmp_path_factory):
    """Returns the path of the object of sdk/src/kernkit.cc, which contains the hook of calls."""
    path = tmp_path_factory.mktemp("hook") / "kernkit.o"
    includes = ["-I", root / "sdk/include", "-isystem", pathlib.Path(tvm_ffi.__file__).parent / "include"]
    options = ["-std=c++17", "-fPIC", "-fvisibility=hidden", "-DKERNKIT_COMPILED"]
    subprocess.run(["c++", *options, *includes, "-c", root / "sdk/src/kernkit.cc", "-o", path], check=True)
    return path


def recorded(suite, hook, folder):
    """Runs the tests of a suite, and returns (paths of the recordings, path of the library)."""
    calls, temporary = folder / "calls", folder / "tests"
    settings = {"KERNKIT_TEST_HOOK": str(hook), "KERNKIT_RECORD": str(calls), "KERNKIT_RECORD_CALLS": "all", "KERNKIT_RECORD_LIMIT": "1,1024"}
    selection = ["-k", suite.selection] if suite.selection else []
    tests = [INTEROP / f"{name}.py" for name in suite.tests.split()]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp", temporary, *selection, *tests]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(called.HOOK)}
    result = subprocess.run(command, env={**environment, **settings}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    return sorted(calls.iterdir()), next(temporary.rglob(f"lib{suite.library}.so"))


def kind_of(value) -> Tuple:
    """Returns a key of an argument, by which calls are distinguished: layout and alignment of a tensor, otherwise the
    value."""
    if value.type == "tensor":
        return value.shape, value.strides, value.dtype, value.address % 64, value.byte_offset, value.is_object, value.storage
    if value.type == "list":
        return tuple(map(kind_of, value.value))
    return value.type, repr(value.value)


def outcome_of(call, library):
    """Makes the call in a child process. Returns "" if the results are equal, otherwise the differences or the error as
    text."""
    with tempfile.TemporaryFile("w+") as text:

        def work():
            try:
                text.write("; ".join(differences.compare(call, replay.call(call, library), 0.0)[0]))
            except Exception as error:
                text.write(str(error) if isinstance(error, UserError) else repr(error))
            text.flush()

        code = child.run(work, is_silent=True)
        text.seek(0)
        return text.read() if code == 0 else f"signal {-code}" if code < 0 else f"exit code {code}"


def replayed(suite, paths, library):
    """Replays at most MOST_CALLS different calls of each op. Returns ({op: number of equal calls}, [op and difference])."""
    folders, calls = collections.defaultdict(list), collections.defaultdict(dict)
    for path in paths:
        folders[path.name.rsplit("-", 2)[0]].append(path)
    for op in folders.values():
        for path in random.Random(1).sample(op, min(len(op), MOST_RECORDINGS)):
            call = recording.read(path)
            if call.library == library.name:
                calls[call.op].setdefault(tuple(map(kind_of, call.arguments)), call)
    equal, different = collections.Counter(), []
    for op, distinct in sorted(calls.items()):
        for call in random.Random(1).sample(list(distinct.values()), min(len(distinct), MOST_CALLS)):
            text = outcome_of(call, library)
            if not text:
                equal[op] += 1
            elif op not in suite.excluded and not UNRECORDED.fullmatch(text) and "on a CUDA device" not in text:
                different.append(f"{call.folder.name}: {text}")
    return equal, different


@pytest.mark.parametrize("source", [pytest.param(name, marks=pytest.mark.all if name in QUICK else pytest.mark.slow) for name in SUITES])
def test_recorded_calls_of_every_op_are_equal(hook, tmp_path, source):
    for package in ("torch", "jax", "ml_dtypes"):
        if source not in QUICK:
            pytest.importorskip(package)
    suite = SUITES[source]
    equal, different = replayed(suite, *recorded(suite, hook, tmp_path))
    assert not different
    missing = set(ops_of(source)) - set(equal) - set(suite.excluded)
    assert not missing, "no recording of these ops was replayed"
    print(f"{source}: {sum(equal.values())} calls of {len(equal)} ops")
