# SPDX-License-Identifier: Apache-2.0
"""Mistakes with streams in programs of Python and of C++. Each mistake gives a wrong result with at least one of the
seeds 1 to 20, and racecheck reports the place of the mistake. Without the mistakes the results are right with every
seed, and no tool reports anything."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from test_client_faults import BY_ORDER, RUNNING

SEEDS = 20
CALLS = 5  # number of calls of each function with one seed
OF_TORCH = ("event_is_recorded_twice", "event_is_of_the_wrong_stream", "wrong_stream_waits", "wait_precedes_the_work",
            "input_is_overwritten", "two_streams_write", "one_of_two_streams_is_awaited", "kernel_writes_too_early",
            "wait_is_in_another_branch", "result_is_read_on_another_stream")  # fmt: skip
# {mistake in stream_faults.cu: pattern of racecheck's report}. None: racecheck does not check the host's accesses to
# pinned memory.
OF_CUDA = {
    "missing_wait": r"scale: .*Race reported between Read access .*\(stream_faults.cu:{scale}\) and Write access by .*add.*\(stream_faults.cu:{add}\)",
    "wrong_stream": r"scale: .*Race reported between Read access .*\(stream_faults.cu:{scale}\) and Write access by .*add.*\(stream_faults.cu:{add}\)",
    "event_recorded_twice": r"scale: .*Race reported between Read access .*\(stream_faults.cu:{scale}\)",
    "event_recorded_early": r"scale: .*Race reported between Read access .*\(stream_faults.cu:{scale}\)",
    "fill_does_not_wait": r"cudaMemsetAsync\(\) on stream 2: Race reported between Write access .* and Write access by .*add.*\(stream_faults.cu:{add}\)",
    "copy_does_not_wait": r"cudaMemcpyAsync\(\) on stream 2: Race reported between Read access .* and Write access by .*add.*\(stream_faults.cu:{add}\)",
    "freed_early": r"cudaFreeAsync\(\) on stream 1: Race reported between Deallocation .* and Read access by .*scale.*\(stream_faults.cu:{scale}\)",
    "pinned_reused": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory, root):
    """Returns the path of the program that nvcc compiles from stream_faults.cu."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    path = tmp_path_factory.mktemp("cuda") / "stream_faults"
    command = ["nvcc", "-arch=compute_80", "-lineinfo", "-o", path, root / "tests/clients/stream_faults.cu"]
    subprocess.run(command, check=True)
    return path


@pytest.fixture
def run_program(program, root):
    def run(*command):
        runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
        if not runtime.exists():
            pytest.skip("no libcudart.so.13 in the build")
        environment = {**os.environ, "KK_ROOT": str(root), "PYTHONPATH": str(root / "sdk/python")}
        head, *arguments = command
        return subprocess.run([sys.executable, "-B", "-m", "kernkit", *head, "--runtime", runtime, program, *arguments],
                              env=environment, capture_output=True, text=True)  # fmt: skip

    return run


def wrong_results(run_once, names):
    """Calls the functions with the seeds 1, 2, 3 and so on, until each mistake has given a wrong result. Returns
    {mistake: the first seed with a wrong result}."""
    found = {}
    for seed in range(1, SEEDS + 1):
        left = [name for name in names if name not in found]
        result = run_once(seed, left)
        for line in result.stdout.splitlines():
            name, mode, outcome = line.split()
            assert mode == "fault" or outcome == "right", f"{name} without its mistake is wrong with seed {seed}"
            if outcome == "wrong":
                found.setdefault(name, seed)
        if found.keys() == set(names):
            break
    return found


def findings_of(result, report):
    assert report.exists(), result.stderr
    return [(finding["tool"], finding["sentence"]) for finding in json.loads(report.read_text())["findings"]]


@pytest.mark.all
def test_mistakes_in_cuda_are_wrong_within_some_seeds(run_program):
    def run_once(seed, names):
        return run_program(["run", "--seed", str(seed)], "once", *names * CALLS)

    names = [name for name in OF_CUDA if name != "freed_early"]
    assert wrong_results(run_once, names).keys() == set(names)
    # memcheck ends the program at this mistake, which therefore runs without other mistakes.
    assert wrong_results(run_once, ["freed_early"]).keys() == {"freed_early"}


@pytest.mark.all
@pytest.mark.parametrize("name", [name for name, text in OF_CUDA.items() if text])
def test_mistakes_in_cuda_are_reported(root, run_program, tmp_path, name):
    lines = (root / "tests/clients/stream_faults.cu").read_text().splitlines()
    numbers = {kernel: next(i for i, line in enumerate(lines, 1) if text in line)
               for kernel, text in (("add", "+= value"), ("scale", "* 2;"))}  # fmt: skip
    result = run_program(["sanitize", "--json", tmp_path / "report"], "fault", name)
    findings = findings_of(result, tmp_path / "report")
    pattern = OF_CUDA[name].format(**numbers)
    assert [tool for tool, sentence in findings if not re.search(pattern, sentence)] == [] != findings, findings
    assert {tool for tool, _ in findings} == {"racecheck"}


@pytest.mark.all
def test_cuda_without_mistakes(run_program, tmp_path):
    result = run_program(["sanitize", "--json", tmp_path / "report"], "correct", *OF_CUDA)
    assert (result.returncode, findings_of(result, tmp_path / "report")) == (0, []), result.stderr


@pytest.mark.slow
def test_mistakes_with_torch_are_wrong_within_some_seeds(run_client):
    def run_once(seed, names):
        return run_client(["run", "--seed", str(seed)], "torch", "torch_stream_faults.py", "once", *names * CALLS)

    names = [*OF_TORCH, *BY_ORDER]
    assert wrong_results(run_once, names).keys() == set(names)


@pytest.mark.slow
def test_mistakes_with_torch_are_reported(root, run_client, tmp_path):
    lines = (root / "tests/clients/torch_stream_faults.py").read_text().splitlines()
    places = {re.search(r"# FAULT (\w+)$", line)[1]: f"(torch_stream_faults.py:{number})"
              for number, line in enumerate(lines, 1) if "# FAULT " in line}  # fmt: skip
    assert places.keys() == set(OF_TORCH)
    assert len({*OF_TORCH, *RUNNING["torch"], *OF_CUDA}) >= 20
    report = tmp_path / "report"
    result = run_client(["sanitize", "--json", report], "torch", "torch_stream_faults.py", "fault", *OF_TORCH)
    findings = findings_of(result, report)
    assert {tool for tool, _ in findings} == {"racecheck"}, findings
    assert {name for name, place in places.items() if any(place in sentence for _, sentence in findings)} == set(OF_TORCH), findings
    assert [sentence for _, sentence in findings if not any(place in sentence for place in places.values())] == []
    result = run_client(["sanitize", "--json", report], "torch", "torch_stream_faults.py", "correct", *OF_TORCH)
    assert (result.returncode, findings_of(result, report)) == (0, []), result.stderr
