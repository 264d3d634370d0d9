# SPDX-License-Identifier: Apache-2.0
"""The CUDA code in the built library, read from its file; nothing runs on a GPU."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from cuda_tools import cuobjdump

# {suffix of a load or store instruction: its size [bytes]}
SASS_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


@pytest.fixture(scope="module")
def architectures(root, library):
    """Returns (architecture, whether PTX is requested) of each requested architecture."""
    cache = (library.parents[1] / "CMakeCache.txt").read_text()
    match = re.search(r"^CMAKE_CUDA_ARCHITECTURES:\w+=(.*)$", cache, re.MULTILINE)
    requested = match[1].split(";") if match and match[1] else ["80", "90-real", "100-real", "120"]
    return [(entry.split("-")[0], not entry.endswith("-real")) for entry in requested]


def test_architectures(library, architectures):
    listing = cuobjdump(library, "--list-elf", "--list-ptx")
    assert set(re.findall(r"sm_(\d+)\.cubin", listing)) == {name for name, _ in architectures}
    assert set(re.findall(r"sm_(\d+)\.ptx", listing)) == {
        name for name, ptx in architectures if ptx
    }


def test_default_architectures(root):
    """By default a library has machine code for every architecture from Ampere to consumer Blackwell, and PTX for
    architectures between and after these."""
    text = (root / "sdk/cmake/KernkitLibrary.cmake").read_text()
    assert "set(CMAKE_CUDA_ARCHITECTURES 80 90-real 100-real 120)" in text


def test_cuda_runtime_is_inside(library):
    """The CUDA runtime is linked statically: the library contains functions of the runtime. test_exports.py checks that
    the library requires no shared CUDA runtime."""
    cuobjdump(library, "--list-elf")
    assert b"libcudart.so" not in library.read_bytes()
    assert b"cudaErrorInsufficientDriver" in library.read_bytes()


def test_kernels_spill_no_registers(library):
    listing = cuobjdump(library, "--dump-resource-usage")
    usage = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+).* LOCAL:(\d+)", listing)
    assert usage
    assert not [name for name, _, stack, local in usage if int(stack) or int(local)]
    # With 80 registers, three blocks of 256 threads fit on an SM with 65536 registers.
    assert max(int(registers) for _, registers, _, _ in usage) <= 80


@pytest.fixture(scope="module")
def kernels(library):
    """Returns {(architecture, kernel): its loads and stores of global memory in order, such as ("LDG", 16)}."""
    sass = cuobjdump(library, "-sass")
    kernels, architecture = {}, None
    for line in sass.splitlines():
        if match := re.search(r"code for sm_(\d+)", line):
            architecture = match[1]
        elif match := re.search(r"Function : (\S+)", line):
            accesses = kernels.setdefault((architecture, match[1]), [])
        elif match := re.search(r"\b(LDG|STG|LD|ST|LDL|STL)((?:\.\w+)*) ", line):
            sizes = [SASS_BYTES[part] for part in match[2].split(".") if part in SASS_BYTES]
            accesses.append((match[1], sizes[0] if sizes else 4))
    return kernels


def elementwise(name):
    """Returns (elements per pack, packs) from the mangled name of an elementwise kernel, or None for another kernel."""
    match = re.search(r"elementwise_kernelILi(\d+)ELi(\d+)E", name)
    return match and (int(match[1]), int(match[2]))


@pytest.mark.all
def test_vector_path_moves_16_bytes_at_a_time(kernels, architectures):
    fast = {key: elementwise(key[1]) for key in kernels if (elementwise(key[1]) or (1,))[0] > 1}
    # Four kernels of scale and nine kernels of add access several elements at a time.
    assert len(fast) == 13 * len(architectures)
    for (architecture, name), (width, packs) in fast.items():
        accesses = kernels[architecture, name]
        assert {instruction for instruction, _ in accesses} == {"LDG", "STG"}, name
        wide = "".join(instruction[0] for instruction, size in accesses if size == 16)
        inputs = 2 if "3Add" in name else 1
        # In whole tiles and in the last tile, all loads of a thread precede its first store.
        assert re.fullmatch(f"(L{{{inputs * packs}}}S{{{packs}}}){{2}}", wide), (name, wide)
        # Elements before the first whole pack and after the last whole pack are loaded and stored one by one.
        narrow = [(instruction, size) for instruction, size in accesses if size < 16]
        assert len(narrow) == 2 * (inputs + 1), name
        assert all(size == 16 // width for _, size in narrow), name


@pytest.mark.all
def test_scalar_path_has_eight_loads_in_flight(kernels, architectures):
    slow = [key for key in kernels if (elementwise(key[1]) or (0,))[0] == 1]
    assert len(slow) == 13 * len(architectures)
    for key in slow:
        order = "".join(instruction[0] for instruction, _ in kernels[key])
        assert "L" * (16 if "3Add" in key[1] else 8) in order, (key, order)


@pytest.mark.all
def test_architecture_of_one_kernel(root, library, tmp_path):
    """A kernel with ARCHITECTURES 90a has code for sm_90a in addition to code for the library's architectures."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    cuobjdump(library, "--list-elf")
    for op in ("one", "two"):
        folder = tmp_path / op
        folder.mkdir()
        (folder / f"{op}.cc").write_text(f"void {op}() {{}}\n")
        (folder / f"{op}.cu").write_text(f"__global__ void {op}_kernel() {{}}\n")
        (folder / f"{op}_export.cc").write_text(
            f'#include "kernkit/export.h"\nvoid {op}();\nKERNKIT_EXPORT({op}, "() -> ()", "", {op})\n'
        )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(outside LANGUAGES C CXX)\n"
        f"add_subdirectory({root}/sdk kernkit)\n"
        "kernkit_find_cuda()\n"
        "kernkit_add_library(ops)\n"
        "kernkit_add_kernel(ops one)\n"
        "kernkit_add_kernel(ops two ARCHITECTURES 90a)\n"
    )
    build = tmp_path / "build"
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    for command in (
        ["cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", "-DKERNKIT_CUDA=ON",
         "-DCMAKE_CUDA_ARCHITECTURES=80-real"],
        ["cmake", "--build", build, "-j2"],
    ):  # fmt: skip
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert result.returncode == 0, result.stdout + result.stderr
    objects = build / "CMakeFiles/ops_objects.dir"
    assert "sm_90a" not in cuobjdump(objects / "one/one.cu.o", "--list-elf")
    listing = cuobjdump(objects / "two/two.cu.o", "--list-elf")
    assert "sm_90a" in listing and "sm_80" in listing
