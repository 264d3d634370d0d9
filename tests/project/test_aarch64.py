# SPDX-License-Identifier: Apache-2.0
"""kernkit's C++ tests and a library's tests, compiled by Debian's cross compiler for aarch64, pass under qemu-user.
`kernkit doctor` accepts the library and its wheel, and the library can be called from C. qemu on x86 keeps x86's memory
order, so these tests do not check the memory order of aarch64."""

import re
import shutil
import subprocess
import zipfile

import pytest
from commands import run
from kernkit.binaries.library import read_library
from kernkit.commands import doctor
from rendering import check, render

QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which(QEMU[0]) or not shutil.which("aarch64-linux-gnu-g++"),
                       reason="g++-aarch64-linux-gnu or qemu-user is not installed"),
]  # fmt: skip


@pytest.fixture(scope="module")
def printed(root):
    """Returns the output of ./kk test --arch aarch64."""
    result = subprocess.run(["./kk", "test", "--arch", "aarch64"], cwd=root, capture_output=True, text=True)
    return result.stdout + result.stderr


@pytest.fixture
def kernels(root, printed):
    return root / "build/aarch64/lib/libkernkit_kernels.so"


def test_the_tests_in_cpp_pass(printed):
    passed, failed = re.findall(r"^(\d+) passed, (\d+) failed, \d+ skipped$", printed, re.MULTILINE)[-1]
    assert failed == "0", printed
    assert int(passed) > 2000


def test_the_file_may_be_shipped_for_aarch64(kernels):
    findings = {finding.rule: finding for finding in doctor.examine(read_library(kernels))}
    assert [finding for finding in findings.values() if not finding.ok] == []
    assert re.search(r"py3-none-manylinux_2_\d+_aarch64$", findings["glibc"].text)
    assert "cuda none" in findings["identity"].text


def test_loops_are_vectorised(kernels):
    code = run("aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", kernels)
    assert re.search(r"fmul\s+v\d+\.4s, v\d+\.4s", code), "float32"
    assert re.search(r"fmul\s+v\d+\.2d, v\d+\.2d", code), "float64"


def test_a_call_and_an_error_from_c(root, kernels, dlpack_include, tmp_path):
    program = tmp_path / "main"
    run("aarch64-linux-gnu-gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", root / "sdk/include",
        "-isystem", dlpack_include, root / "docs/gallery/from_c/main.c", "-o", program, "-ldl")  # fmt: skip
    assert run(*QEMU, program, kernels).splitlines() == [
        "2 4 6",
        "TypeError: scale(): takes 3 arguments (y, x, factor), got 2",
    ]


def test_a_library_is_tested(template, environment, driver_environment, tmp_path):
    result = render(template, tmp_path, environment, library_name="crossed", parts="aarch64")
    assert result.returncode == 0, result.stdout
    output = check("./kk", "test", "--arch", "aarch64", cwd=tmp_path / "crossed", env=driver_environment)
    assert re.search(r"^[1-9]\d+ passed, 0 failed, 1 skipped$", output, re.MULTILINE), output


def test_a_library_has_a_wheel(template, environment, driver_environment, tmp_path):
    result = render(template, tmp_path, environment, library_name="crossed", parts="aarch64")
    assert result.returncode == 0, result.stdout
    check("./kk", "wheel", "--arch", "aarch64", cwd=tmp_path / "crossed", env=driver_environment)
    (wheel,) = (tmp_path / "crossed/dist").glob("*.whl")
    tag = re.fullmatch(r"crossed-0\.1\.0-(py3-none-manylinux_2_\d+_aarch64)\.whl", wheel.name)
    zipfile.ZipFile(wheel).extractall(tmp_path / "wheel")
    findings = {finding.rule: finding for finding in doctor.examine(read_library(tmp_path / "wheel/crossed/libcrossed.so"))}
    assert [finding for finding in findings.values() if not finding.ok] == []
    assert findings["glibc"].text.endswith(tag[1])


def test_a_library_without_the_component_reports_it(template, environment, driver_environment, tmp_path):
    assert render(template, tmp_path, environment, library_name="crossed").returncode == 0
    output = subprocess.run(["./kk", "test", "--arch", "aarch64"], cwd=tmp_path / "crossed", env=driver_environment,
                          capture_output=True, text=True).stderr  # fmt: skip
    assert output == ("kk: this copy of kernkit lacks the component aarch64, which provides the option --arch aarch64; "
                    "run: ./kk update --with aarch64; if kernkit is not installed, add --from WHERE, where WHERE is a checkout or a "
                    "wheel of kernkit\n")
