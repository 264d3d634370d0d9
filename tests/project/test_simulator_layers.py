# SPDX-License-Identifier: Apache-2.0
"""The simulator is a separate component: it can be built by itself, and its layers do not include each other."""

import collections
import os
import re
import subprocess

import pytest

STORAGE_FLOATS = {"kernkit/float.h", "kernkit/types/small_float.h"}


@pytest.fixture(scope="module")
def includes(root):
    """Returns {file of the simulator: its quoted includes}, without the tests."""
    folder = root / "sdk/simulator"
    files = [path for pattern in ("*.h", "*.cc") for path in folder.rglob(pattern)]
    names = {path.relative_to(folder).as_posix(): path.read_text() for path in files}
    texts = {name: text for name, text in names.items() if not name.startswith("tests/")}
    return {name: re.findall(r'^#include "([^"]+)"', text, re.MULTILINE) for name, text in texts.items()}


def layer_of(name):
    """Returns the layer of a file: its folder, or the file itself if the file is in the root."""
    parts = name.split("/")
    if len(parts) == 1:
        return name
    return "/".join(parts[:2]) if parts[0] == "ptx" and len(parts) > 2 else parts[0]


def circles(includes):
    """Returns the pairs of layers that include each other."""
    below = collections.defaultdict(set)
    for name, included in includes.items():
        for target in included:
            if target in includes and layer_of(target) != layer_of(name):
                below[layer_of(name)].add(layer_of(target))
    return sorted((a, b) for a in below for b in below[a] if a < b and a in below.get(b, ()))


def test_no_two_folders_include_each_other(includes):
    assert len(includes) > 150
    assert circles(includes) == []


def test_a_circle_is_found(includes):
    planted = {**includes, "schedule/schedule.h": [*includes["schedule/schedule.h"], "runtime/state.h"]}
    assert circles(planted) == [("runtime", "schedule")]


def test_no_file_of_ptx_includes_the_runtime(includes):
    of_ptx = {name: included for name, included in includes.items() if name.startswith("ptx/")}
    assert len(of_ptx) > 60
    assert [name for name, included in of_ptx.items() if any(target.startswith("runtime/") for target in included)] == []


def test_it_includes_no_kernkit_header_but_the_storage_floats(includes):
    public = ("kernkit/simulator/", "kernkit/cuda_on_cpu/")
    headers = {
        header
        for included in includes.values()
        for header in included
        if header.startswith("kernkit/") and not header.startswith(public)
    }
    assert headers <= STORAGE_FLOATS


def test_nothing_but_the_parser_and_the_decoder_reads_the_text_of_opcodes(root):
    """Only the parser and the decoder examine the text of opcodes; other files may print an opcode in a message."""
    reads = re.compile(r"\bopcode\w*(?:\(\))?\s*(?:\.(?:find|rfind|substr|compare|starts_with)|\[|==|!=)")
    folder = root / "sdk/simulator"
    files = [*folder.rglob("*.cc"), *folder.rglob("*.h")]
    violations = []
    for path in files:
        name = path.relative_to(folder).as_posix()
        if not name.startswith(("tests/", "ptx/parser/", "ptx/decode/")) and reads.search(path.read_text()):
            violations.append(name)
    assert violations == []


@pytest.mark.slow
def test_it_configures_builds_and_tests_alone(root, tmp_path):
    subprocess.run(["cmake", "-S", root / "sdk/simulator", "-B", tmp_path, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"], check=True)
    subprocess.run(["cmake", "--build", tmp_path], check=True)
    result = subprocess.run(["ctest", "--test-dir", tmp_path, f"-j{os.cpu_count()}"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    assert int(re.search(r"tests passed, 0 tests failed out of (\d+)", result.stdout)[1]) > 100
