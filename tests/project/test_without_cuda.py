# SPDX-License-Identifier: Apache-2.0
"""On a machine without nvcc, the fast tests that depend on nvcc pass or are skipped."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from commands import path_without, run

HERE = pathlib.Path(__file__).resolve().parent
DEPENDS = re.compile(r"nvcc|KERNKIT_CUDA|cuda_tools|gpu")
LEFT_OUT = "not all and not slow"
SHORT = ("budgets", "components", "cuda_code", "doctor", "kk_gpu", "on_gpu", "real_kernels", "simulator", "tools_on_tests")


@pytest.fixture(scope="module")
def without_nvcc(tmp_path_factory):
    """Returns environment variables that disable CUDA, with a PATH without nvcc."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CUDA", "PYTEST_"))}
    return {**environment, "KERNKIT_CUDA": "OFF", "PATH": path_without(tmp_path_factory.mktemp("links"), "nvcc")}


@pytest.mark.all
def test_the_repository_is_configured(root, tmp_path, without_nvcc):
    run("cmake", "-S", root, "-B", tmp_path, "-G", "Ninja", "-DKERNKIT_CUDA=OFF", "-DCMAKE_BUILD_TYPE=Release")
    listed = subprocess.run(["ninja", "-t", "commands", "all"], cwd=tmp_path, capture_output=True, text=True, env=without_nvcc)
    assert listed.returncode == 0, listed.stdout + listed.stderr
    programs = {pathlib.Path(program).name for line in listed.stdout.splitlines() for program in line.split()}
    assert "nvcc" not in programs and "elementwise_test.cc" in programs


@pytest.mark.parametrize(
    "names, more_than",
    [pytest.param(None, 100, marks=pytest.mark.slow), pytest.param(SHORT, 50, marks=pytest.mark.all)],
    ids=["every file", "short files"],
)
def test_quick_tests_pass(root, without_nvcc, names, more_than):
    files = [path for path in sorted(HERE.rglob("test_*.py")) if DEPENDS.search(path.read_text()) and path.name != "test_without_cuda.py"]
    if names:
        files = [path for path in files if path.stem.removeprefix("test_") in names]
        assert len(files) == len(names)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", LEFT_OUT, *map(str, files)]
    result = subprocess.run(command, cwd=root, env=without_nvcc, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr
    assert int(re.search(r"(\d+) passed", result.stdout)[1]) > more_than
