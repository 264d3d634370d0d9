# SPDX-License-Identifier: Apache-2.0
"""Tests the plugin of `pytest -p kernkit`, which prints a header and skips tests that need a GPU, with a reason."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
import yaml
from kernkit.commands import run
from kernkit.pytest_plugin import reason_of

SETTINGS = ["--noconftest", "-c", "/dev/null", "--rootdir", ".", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "kernkit"]
INSTRUCTION = "needs a GPU: read_counter cannot run: mov.u32 (torch_plugin_cases.py:16): unknown name %pm0"
FUNCTION = "needs a GPU: cuArrayDestroy() is not supported"
EXPECTED = {
    "test_passes": ("passed", ""),
    "test_is_wrong": ("failure", "AssertionError"),
    "test_raises": ("failure", "NotImplementedError: not written yet"),
    "test_unsupported_instruction": ("skipped", INSTRUCTION),
    "test_unsupported_instruction_in_a_fixture": ("skipped", INSTRUCTION),
    "test_unsupported_operator": ("skipped", "needs a GPU: Could not run 'aten::_scaled_dot_product_flash_attention'"),
    "test_unsupported_operator_of_a_test_case": ("skipped", "needs a GPU: Could not run 'aten::_scaled_dot_product_flash_attention'"),
    "test_of_a_test_case_is_wrong": ("failure", "AssertionError: 3.0 != 4"),
    "test_machine_code": ("skipped", "needs a GPU: cuModuleLoadData(): "),
    "test_unsupported_function[1]": ("skipped", FUNCTION),
    "test_unsupported_function[2]": ("skipped", "needs a GPU: operation not supported"),
    "test_stores_past_the_end": ("failure", "torch.AcceleratorError: CUDA error: an illegal memory access"),
}


@pytest.mark.all
def test_what_needs_a_gpu_is_skipped(run_client, tmp_path):
    variables = {}
    if shutil.which("nvcc"):
        (tmp_path / "empty.cu").write_text("__global__ void empty() {}\n")
        subprocess.run(["nvcc", "-cubin", "-arch=sm_80", "-o", tmp_path / "cubin", tmp_path / "empty.cu"], check=True)
        variables["CUBIN"] = str(tmp_path / "cubin")
    results = tmp_path / "results.xml"
    result = run_client(["run"], "torch", "-m", "pytest", *SETTINGS, f"--junit-xml={results}", "torch_plugin_cases.py", **variables)
    assert "\nkernkit: the CPU computes the results" in result.stdout, result.stdout + result.stderr
    outcomes = {}
    for case in xml.parse(results).iter("testcase"):
        problems = [(problem.tag, problem.get("message")) for problem in case]
        outcomes[case.get("name")] = problems[0] if problems else ("passed", "")
    if not variables:
        outcomes["test_machine_code"] = EXPECTED["test_machine_code"]
    assert outcomes.keys() == EXPECTED.keys()
    for name, (outcome, message) in EXPECTED.items():
        assert outcomes[name][0] == outcome and outcomes[name][1].startswith(message), (name, outcomes[name])


def test_without_kernkit_run_nothing_is_added(root, tmp_path):
    (tmp_path / "test_one.py").write_text("def test_fails():\n    raise RuntimeError('operation not supported')\n")
    environment = {**os.environ, "PYTHONPATH": str(root / "sdk/python")}
    result = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "kernkit", "-p", "no:cacheprovider", tmp_path],
                            cwd=tmp_path, env=environment, capture_output=True, text=True)  # fmt: skip
    assert "1 failed" in result.stdout and "kernkit: " not in result.stdout


@pytest.mark.parametrize("name", ["tests", "extension"])
def test_the_workflow_of_the_page(root, name):
    text = (root / f"docs/examples/{name}_without_gpu.yml").read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"} and len(workflow["jobs"]) == 1
    steps = workflow["jobs"]["without_gpu"]["steps"]
    own = (root / ".github/workflows/ci.yml").read_text()
    # The workflow in docs/examples pins each action to the same commit as kernkit's own workflow.
    assert all(line.strip() in own for line in text.splitlines() if "uses:" in line)
    install, *_ = [step["run"] for step in steps if "pip install" in step.get("run", "")]
    assert install.split()[2] in (root / "tests/requirements-frameworks.txt").read_text().splitlines()
    commands = [shlex.split(step["run"]) for step in steps if "kernkit run" in step.get("run", "")]
    for command in commands:
        parser = argparse.ArgumentParser()
        run.add_arguments(parser)
        arguments = parser.parse_args(command[2:])
        assert (arguments.program, arguments.arguments[:2]) == ("pytest", ["-p", "kernkit"])
    assert len(commands) == 2


def test_reasons():
    error = AssertionError("assert 1 == 2")
    assert reason_of(error, []) == ""
    report = "scale cannot run: it has machine code only (sm_80)"
    assert reason_of(error, ["scale: Invalid __global__ write", report]) == report
    assert reason_of(error, ["scale cannot run: the grid is not a multiple of the kernel's cluster of 2"]) == ""
    assert reason_of(error, ["scale: block [0, 0, 0]: Invalid __global__ write of size 4 bytes"]) == ""
    assert reason_of(NotImplementedError("later"), []) == ""
    torch_error = "Could not run 'aten::f' with arguments. More.\nkernkit runs PyTorch's operators on CUDA tensors by"
    assert reason_of(NotImplementedError(torch_error), []) == "Could not run 'aten::f' with arguments"
    assert reason_of(RuntimeError("operation not supported"), []) == "operation not supported"
