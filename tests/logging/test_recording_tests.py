# SPDX-License-Identifier: Apache-2.0
"""Tests KERNKIT_TEST_RECORDING in build/release/bin/recording_test, a program that repeats calls recorded from
Python."""

import os
import re
import shutil
import subprocess

import called
import pytest
from kernkit.calls import recording
from test_replay import EVERY_KIND


def run(paths, *options, **settings):
    program = called.ROOT / "build/release/bin/recording_test"
    if not program.exists():
        pytest.skip(f"{program} is missing; run ./kk build")
    settings = {**os.environ, "KERNKIT_TEST_FOLDERS": ":".join(map(str, paths)), **settings}
    return subprocess.run([program, *options], env=settings, capture_output=True, text=True)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings") / "calls"
    called.run(EVERY_KIND, KERNKIT_RECORD=str(folder), KERNKIT_RECORD_CALLS="all")
    return sorted(path for path in folder.iterdir() if not path.name.startswith("typed"))


def test_every_type_of_argument_and_every_layout_passes(recordings):
    result = run(recordings, "--gtest_filter=Recording.*")
    assert result.returncode == 0, result.stdout
    assert {path.name.replace("-", "_") for path in recordings} < set(re.findall(r"OK \] Recording\.(\S+)", result.stdout)) and len(recordings) == 28


def test_another_result_fails_unless_it_is_within_the_tolerance(recordings):
    path = next(path for path in recordings if recording.read(path).results.written)
    only = "--gtest_filter=Recording." + path.name.replace("-", "_")
    outputs = path / "outputs.safetensors"
    original = outputs.read_bytes()
    outputs.write_bytes(original[:-4] + bytes([original[-4] ^ 1]) + original[-3:])
    try:
        failed = run([path], only)
        assert failed.returncode == 1
        assert re.search(r"recording_test\.cc:\d+: Failure\nFailed\nadd_to\(\): y: element \[\d, \d\] was \S+ and is \S+\n", failed.stdout)
        assert run([path], only, KERNKIT_TEST_TOLERANCE="1e-6").returncode == 0
    finally:
        outputs.write_bytes(original)


@pytest.mark.parametrize(
    "op, file, old, new, message",
    [
        ("transposed", "result.safetensors", -4, b"\x00\x00\x80\x3f", r"transposed\(\): the result: element \[4, 2\] was 1 and is 0\.\d+"),
        ("described", "results.json", b",0.000000,3", b",1.000000,3", r'described\(\): the result was ",1\.000000,3,2,10" and is ",0\.000000,3,2,10"'),
        ("kinds", "results.json", b'"float"', b'"int"', "an integer from -9223372036854775808 to 9223372036854775807 was expected"),
    ],
)
def test_other_returned_values_fail(recordings, tmp_path, op, file, old, new, message):
    path = tmp_path / "call"
    shutil.copytree([path for path in recordings if path.name.startswith(op) and (isinstance(old, int) or old in (path / file).read_bytes())][-1], path)
    content = (path / file).read_bytes()
    (path / file).write_bytes(content[:old] + new if isinstance(old, int) else content.replace(old, new))
    failed = run([path], "--gtest_filter=Recording.call")
    assert failed.returncode == 1 and re.search(message, failed.stdout), failed.stdout


@pytest.mark.slow
def test_many_mutated_recordings_are_read_or_rejected():
    result = run([], "--gtest_filter=*Mutated*", KERNKIT_TEST_MUTATIONS="100000")
    assert result.returncode == 0, result.stdout
