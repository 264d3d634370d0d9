# SPDX-License-Identifier: Apache-2.0
"""memcheck finds accesses past a tensor inside of a block of PyTorch's caching allocator, and reports nothing else."""

import json

import pytest

pytestmark = pytest.mark.all
FAULTS = {
    "load_past_the_end": "read of size 4 bytes, 0 bytes after a block of 400 bytes of an allocation of 2097152 bytes",
    "store_in_a_graph": "write of size 4 bytes, 0 bytes after a block of 400 bytes of an allocation of 2097152 bytes",
    "store_to_freed_memory": "write of size 4 bytes, ",
}
CORRECT = [*FAULTS, "memory_of_other_streams", "out_of_memory"]


def line_of(root, name):
    lines = (root / "tests/clients/torch_bounds.py").read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if name in line.partition("# FAULT ")[2].split()]
    return f"(torch_bounds.py:{number})"


@pytest.mark.parametrize("name", FAULTS)
def test_an_access_past_a_tensor_is_a_fault(root, run_client, tmp_path, name):
    result = run_client(["sanitize", "--tool", "memcheck", "--json", tmp_path / "report"], "torch", "torch_bounds.py", "fault", name)
    findings = [(finding["tool"], finding["sentence"]) for finding in json.loads((tmp_path / "report").read_text())["findings"]]
    assert [tool for tool, _ in findings] == ["memcheck"], result.stderr
    assert FAULTS[name] in findings[0][1] and line_of(root, name) in findings[0][1]


@pytest.mark.parametrize("command", [["sanitize"], ["run", "--seed", "3"], ["run"]], ids=" ".join)
def test_accesses_of_tensors_are_right(run_client, command):
    result = run_client(command, "torch", "torch_bounds.py", "correct", *CORRECT, KERNKIT_TORCH_BLOCKS="1")
    assert (result.returncode, result.stdout) == (0, ""), result.stdout + result.stderr


def test_without_the_records_of_the_allocator_nothing_is_found(run_client):
    """Without KERNKIT_TORCH_BLOCKS, `kernkit run` does not report an access past a tensor inside of an allocation of
    PyTorch."""
    result = run_client(["run"], "torch", "torch_bounds.py", "fault", "load_past_the_end")
    assert (result.returncode, result.stdout, "Invalid" in result.stderr) == (0, "", False)
