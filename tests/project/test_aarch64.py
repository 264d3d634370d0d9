# SPDX-License-Identifier: Apache-2.0
"""The reference kernels for aarch64, by Debian's cross compiler, and under qemu-user: the library's file, the
C ABI, a call and an error, the tests of scale. qemu on x86 keeps x86's memory order, so nothing here shows that of aarch64."""

import pathlib
import re
import shutil

import pytest
from commands import run
from kernkit import doctor
from kernkit.binaries.library import read_library

pytestmark = pytest.mark.slow
GXX, QEMU = "aarch64-linux-gnu-g++", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]


@pytest.fixture(scope="module")
def cross(root, tmp_path_factory):
    """The kernels, built with the toolchain file."""
    if not shutil.which(GXX) or not shutil.which(QEMU[0]):
        pytest.skip("g++-aarch64-linux-gnu or qemu-user is not installed")
    build = tmp_path_factory.mktemp("aarch64")
    switched_off = [f"-DKERNKIT_{what}=OFF" for what in ("BUILD_TESTS", "BUILD_BENCHMARKS", "CUDA")]
    run("cmake", "-S", root, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DKERNKIT_WERROR=ON",
        f"-DCMAKE_TOOLCHAIN_FILE={root}/cmake/aarch64.cmake", *switched_off)  # fmt: skip
    run("cmake", "--build", build, "--target", "kernkit_kernels")
    return build / "lib/libkernkit_kernels.so"


def test_the_file_may_be_shipped_for_aarch64(cross):
    findings = {finding.rule: finding for finding in doctor.examine(read_library(cross))}
    assert [finding for finding in findings.values() if not finding.ok] == []
    assert re.search(r"py3-none-manylinux_2_\d+_aarch64$", findings["glibc"].text)
    assert "cuda none" in findings["identity"].text


def test_loops_are_vectorised(cross):
    code = run("aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", cross)
    assert re.search(r"fmul\s+v\d+\.4s, v\d+\.4s", code), "float32"
    assert re.search(r"fmul\s+v\d+\.2d, v\d+\.2d", code), "float64"


def test_a_call_and_an_error_from_c(root, cross, dlpack_include, tmp_path):
    program = tmp_path / "main"
    run("aarch64-linux-gnu-gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I", root / "sdk/include",
        "-isystem", dlpack_include, root / "tests/consumers/c/main.c", "-o", program, "-ldl")  # fmt: skip
    assert run(*QEMU, program, cross).splitlines() == [
        "2 4 6",
        "TypeError: scale(): takes 3 arguments (y, x, factor), got 2",
    ]


def test_the_tests_of_scale_under_qemu(root, cross, dlpack_include, tmp_path):
    """GoogleTest is compiled from the sources that Debian's libgtest-dev brings."""
    sources = pathlib.Path("/usr/src/googletest/googletest")
    if not sources.is_dir():
        pytest.skip("the sources of GoogleTest are not in /usr/src")
    objects = list((cross.parents[1] / "kernels/CMakeFiles/kernkit_kernels_objects.dir").rglob("*.o"))
    includes = ["-I", root / "kernels", "-I", root / "sdk/include", "-isystem", dlpack_include]
    includes += ["-I", sources, "-isystem", sources / "include"]
    run(GXX, "-std=c++17", "-O1", "-DKERNKIT_COMPILED", *includes, root / "tests/kernels/scale_test.cc", *objects,
        sources / "src/gtest-all.cc", sources / "src/gtest_main.cc", "-lpthread", "-o", tmp_path / "scale_test")  # fmt: skip
    printed = run(*QEMU, tmp_path / "scale_test", "--gtest_brief=1")
    assert re.search(r"PASSED  \] (?:[3-9]\d|\d{3,}) tests", printed), printed
