# SPDX-License-Identifier: Apache-2.0
"""A library of `kernkit new --with torch-tests` tests its kernels on PyTorch's device cuda, without a GPU."""

import importlib.metadata
import json
import re
import shutil
import xml.etree.ElementTree as xml

import pytest
from rendering import NAME, check

FILE = "tests/test_torch_cuda.py"


def test_the_component_has_a_file_of_tests(kernkit_new, tmp_path):
    for name, arguments, has in (("by_default", (), False), ("with_tests", ("--with", "torch-tests"), True)):
        assert kernkit_new(name, "--no-git", *arguments).returncode == 0
        library = tmp_path / name
        assert (library / FILE).is_file() == has
        assert ("torch==" in (library / "requirements.txt").read_text()) == has
        assert (library / "third_party/kernkit_dev/python/kernkit/pytest_plugin.py").is_file() == has
        parts = json.loads((library / ".kernkit.json").read_text())["answers"]["parts"]
        assert parts == ("ptx,torch_tests" if has else "ptx")
    result = kernkit_new("no_cuda", "--with", "torch-tests", "--cuda", "none")
    assert (result.returncode, result.stdout) == (3, "kernkit: --with: torch_tests tests CUDA kernels, and --cuda none is a library "
                                                  "without CUDA: leave out --cuda none, or torch_tests\n")  # fmt: skip


def test_the_version_of_torch_is_that_of_the_tests(root, template):
    wanted = re.search(r"^#: (torch==\S+)$", (template / "{{cookiecutter.library_name}}/requirements.txt").read_text(), re.MULTILINE)[1]
    assert wanted in (root / "tests/requirements-frameworks.txt").read_text().splitlines()


@pytest.mark.slow
def test_the_tests_run_by_kernkit_run(kernkit_new, driver_environment, tmp_path):
    """`./kk test` and `./kk wheel` run the tests on the built library and on the installed wheel; a wrong kernel fails."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    try:
        assert any(text.startswith("triton") for text in importlib.metadata.requires("torch"))  # only CUDA builds of torch require triton
    except (importlib.metadata.PackageNotFoundError, AssertionError):
        pytest.skip("a CUDA build of torch is not installed: ./kk test --with torch")
    assert kernkit_new(NAME, "--no-git", "--with", "torch-tests").returncode == 0
    library = tmp_path / NAME
    # The timeout is an hour, because the first ./kk test compiles the library, the simulator and PyTorch's operators.
    at = {"cwd": library, "timeout": 3600, "env": {**driver_environment, "KERNKIT_CUDA": "ON", "CUDAARCHS": "80-virtual"}}

    def outcomes():
        cases = xml.parse(library / "build/junit/pytest.xml").iter("testcase")
        return [[problem.tag for problem in case] for case in cases if "torch_cuda" in case.get("classname")]

    printed = check("./kk", "test", **at)
    assert "==> pytest by kernkit run" in printed and outcomes() == [[]] * 23
    printed = check("./kk", "wheel", **at)
    assert "kernkit: the CPU computes" in printed or re.search(r"\n\d+ passed in ", printed), printed
    assert "skipped" not in printed
    printed = check("./kk", "test", **{**at, "env": {**at["env"], "KERNKIT_CUDA": "OFF"}})
    assert "no GPU; with nvcc and a CUDA build of PyTorch ./kk test needs none" in printed
