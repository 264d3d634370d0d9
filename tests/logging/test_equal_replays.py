# SPDX-License-Identifier: Apache-2.0
"""Finds the causes of wrong results that are equal in each replay on the CPU, by the steps of
docs/my-kernel-crashed.md. The causes are an element of shared memory that is read before it is stored, for one of 1024
sizes, and a missing barrier."""

import sys

import called
import pytest
from kernkit.calls import recording
from test_on_cpu import kernkit, runtime  # noqa: F401

pytestmark = pytest.mark.all

# Calls an op with a tensor x of n elements, and compares y with the expected element.
CALL = """
import ctypes, struct, sys
from kernkit.calls import device, replay
driver, n = device.Driver(), int(sys.argv[3])
x = device.DeviceMemory(driver, 0, 0, 4 * n, struct.pack(f"{n}f", *[1 + i % 3 for i in range(n)]))
y = device.DeviceMemory(driver, 0, 0, 4 * n, bytes(4 * n))
shape = (ctypes.c_int64 * 1)(n)
args, result, keep = (replay._Any * 2)(), replay._Any(), []
for arg, memory in zip(args, (y, x)):
    keep.append(replay._DLTensor(memory.base, (2, 0), 1, 2, 32, 1, ctypes.addressof(shape), None, 0))
    arg.type_index, arg.v.ptr = 7, ctypes.addressof(keep[-1])
library = ctypes.CDLL(sys.argv[1])
assert getattr(library, "__tvm_ffi_" + sys.argv[2])(None, args, 2, ctypes.byref(result)) == 0
"""
SOURCE = (called.ROOT / "tests/logging/equal.cu").read_text()


def line_of(comment):
    return 1 + SOURCE.split(f"  // {comment}\n")[0].count("\n")


def recorded(root, runtime, folder, op, n):  # noqa: F811
    made = kernkit(root, "run", "--runtime", runtime, sys.executable, "-c", CALL, called.library("called_cuda_ops"), op, n, KERNKIT_RECORD=str(folder))
    assert made.returncode == 0, made.stderr
    (path,) = folder.iterdir()
    return path


READ, STORE, RACE = line_of("the read before a store"), line_of("the store"), line_of("the read without a barrier")
FAULTS = [
    ("centre", 3073, "initcheck", {"KERNKIT_POISON": "0x11"}, f"read from byte 12 of shared memory (equal.cu:{READ})", "[3073] -> [1]"),
    ("share", 100, "racecheck", {"KERNKIT_SEED": "3"}, f"thread [64, 0, 0]: Race reported between Write access at byte 256 of shared memory (equal.cu:{STORE}) "
     f"and Read access by thread [0, 0, 0] (equal.cu:{RACE}), with no barrier between that orders them (64 times)", "[100] -> [1]"),
]  # fmt: skip


@pytest.mark.parametrize("op, n, tool, settings, sentence, shapes", FAULTS, ids=[fault[0] for fault in FAULTS])
def test_wrong_results_that_are_equal_have_a_finding(root, runtime, tmp_path, op, n, tool, settings, sentence, shapes):  # noqa: F811
    path, new = recorded(root, runtime, tmp_path / "calls", op, n), tmp_path / "smaller"
    faulty, repaired = called.library("called_cuda_ops"), called.library("repaired_cuda_ops")
    rest = ("--runtime", runtime, "--library")

    # The replay gives the recorded result, unless other bytes fill new memory or the threads run in another order.
    equal = kernkit(root, "replay", path, "--on-cpu", *rest, faulty)
    assert (equal.returncode, equal.stdout) == (0, f"{op}: equal: y\n"), equal.stderr
    other = kernkit(root, "replay", path, "--on-cpu", *rest, faulty, **settings)
    assert other.returncode == 1 and "elements differ: " in other.stdout, other.stderr
    kept = kernkit(root, "replay", path, "--on-cpu", "--minimize", new, *rest, faulty)
    advice = "the results are equal, so there is no failure to keep; add --tool racecheck,initcheck: a finding of a tool is a failure as well"
    assert (kept.returncode, kept.stderr) == (3, f"kernkit: {op}: {advice}\n")

    # The tools report the line of the fault, and a smaller call has the same finding.
    found = kernkit(root, "replay", path, "--tool", "memcheck,racecheck,initcheck,synccheck", *rest, faulty)
    assert found.returncode == 1 and f"{tool}: {op}_kernel: " in found.stderr and sentence in found.stderr, found.stderr
    made = kernkit(root, "replay", path, "--tool", tool, "--minimize", new, *rest, faulty)
    assert made.returncode == 0 and f"y {shapes}, x {shapes}; " in made.stdout, made.stdout + made.stderr
    assert recording.read(new).results is None

    # The results of the repaired library differ from the recorded results but do not depend on the settings, and the
    # smaller call succeeds.
    correct = kernkit(root, "replay", path, "--tool", "racecheck,initcheck", *rest, repaired, KERNKIT_RECORD=str(tmp_path / "again"))
    assert correct.returncode == 1 and "elements differ: " in correct.stdout and "0 findings" in correct.stderr, correct.stderr
    (again,) = (tmp_path / "again").iterdir()
    same = kernkit(root, "replay", again, "--on-cpu", *rest, repaired, **settings)
    assert (same.returncode, same.stdout) == (0, f"{op}: equal: y\n"), same.stderr
    unknown = f"{op}: the results of this part of a recorded call are unknown; this call succeeds\n"
    for library, code in ((faulty, 1), (repaired, 0)):
        smaller = kernkit(root, "replay", new, "--tool", tool, *rest, library)
        assert (smaller.returncode, smaller.stdout) == (code, unknown), smaller.stderr
    nothing = kernkit(root, "replay", again, "--tool", tool, "--minimize", tmp_path / "none", *rest, repaired)
    assert nothing.returncode == 3 and f"kernkit: {op}: the results are equal, and the tools report nothing, so there is no failure to keep\n" == nothing.stderr


def test_determinism_names_the_store_whose_bits_depend_on_the_order(root, runtime, tmp_path):  # noqa: F811
    path = recorded(root, runtime, tmp_path / "calls", "share", 100)
    found = kernkit(root, "replay", path, "--tool", "determinism", "--runtime", runtime, "--library", called.library("called_cuda_ops"))
    line = 1 + SOURCE.split("y[thread] = x[thread]")[0].count("\n")
    assert found.returncode == 1 and f"determinism:   written by: Write access (equal.cu:{line})" in found.stderr, found.stderr
