# SPDX-License-Identifier: Apache-2.0
"""Programs of several files that nvcc -rdc=true compiles run under `kernkit run`: their kernels call functions and use
variables of other files. The programs are linked in each way that nvcc documents."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from cuda_tools import tool
from kernkit.binaries.fatbin import read_architectures

HERE = pathlib.Path(__file__).resolve().parent / "separable"
pytestmark = pytest.mark.all


def nvcc(*words):
    if tool("nvcc") is None:
        pytest.skip("nvcc is not installed")
    done = subprocess.run([tool("nvcc"), *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def objects(folder, *options):
    """Compiles the program's two files; returns the paths of the objects."""
    nvcc("-rdc=true", *options, "-odir", folder, "-c", HERE / "main.cu", HERE / "other.cu")
    return [folder / "main.o", folder / "other.o"]


def run(root, program, *arguments, command="run"):
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    done = subprocess.run([sys.executable, "-B", "-m", "kernkit", command, "--runtime", runtime, program, *arguments],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip
    return done


def is_right(done):
    """Returns whether the program passed and the kernels of both files printed their texts."""
    lines = sorted(done.stdout.splitlines())
    return done.returncode == 0 and lines == ["main: counter 3", "other: counter 100", "separable: passed"]


@pytest.mark.parametrize("options", [["-arch=compute_80"], ["-gencode", "arch=compute_75,code=[sm_75,compute_75]", "-cudart", "shared"]],
                         ids=["PTX", "PTX and machine code"])  # fmt: skip
def test_nvcc_links_a_program(root, tmp_path, options):
    program = tmp_path / "program"
    nvcc(*options, "-o", program, *objects(tmp_path, *options))
    done = run(root, program)
    assert is_right(done), done.stdout + done.stderr
    assert "compute_" in " ".join(read_architectures(program))


def test_device_code_is_linked_from_an_archive_and_in_a_step_of_its_own(root, tmp_path):
    first, second = objects(tmp_path, "-arch=compute_80", "-lineinfo")
    archive, linked, program = tmp_path / "libother.a", tmp_path / "linked.o", tmp_path / "program"
    nvcc("-lib", "-o", archive, second)
    nvcc("-arch=compute_80", "-dlink", "-o", linked, first, archive)
    nvcc("-o", program, first, linked, archive)
    done = run(root, program)
    assert is_right(done), done.stdout + done.stderr


def test_a_fault_names_the_line_of_its_file(root, tmp_path):
    source = tmp_path / "faulty.cu"
    source.write_text("__device__ int* there;\n\n__device__ void store(int i) { there[i] = 1; }\n")
    main = tmp_path / "main.cu"
    main.write_text("__device__ void store(int i);\n__global__ void k() { store(threadIdx.x); }\n"
                    "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess; }\n")  # fmt: skip
    program = tmp_path / "program"
    nvcc("-rdc=true", "-arch=compute_80", "-lineinfo", "-o", program, main, source)
    done = run(root, program)
    assert done.returncode == 0 and re.search(r"k: .*Invalid __global__ write of size 4 bytes.*\(faulty\.cu:3", done.stderr), done.stderr


def test_kernels_launch_kernels(root, tmp_path):
    program = tmp_path / "nested"
    nvcc("-rdc=true", "-arch=compute_80", "-lineinfo", "-o", program, HERE / "nested.cu")
    done = run(root, program)
    assert (done.returncode, done.stdout) == (0, "nested: passed\n"), done.stdout + done.stderr
    done = run(root, program, command="sanitize")
    assert done.returncode == 0 and "0 findings" in done.stderr, done.stdout + done.stderr


def test_kernels_copy_and_fill_memory(root, tmp_path):
    program = tmp_path / "copies"
    nvcc("-rdc=true", "-arch=compute_80", "-lineinfo", "-o", program, HERE / "copies.cu")
    done = run(root, program)
    assert (done.returncode, done.stdout) == (0, "no error, cudaErrorInvalidValue\ncopies: passed\n"), done.stdout + done.stderr
    done = run(root, program, command="sanitize")
    assert done.returncode == 0 and "0 findings" in done.stderr, done.stdout + done.stderr
    done = run(root, program, "short")
    assert done.returncode == 1 and re.search(r"cudaMemcpyAsync_in_kernel: .*Invalid __global__ write of size 1 bytes, 0 bytes after an "
                                              "allocation of 79996 bytes", done.stderr), done.stderr  # fmt: skip


@pytest.mark.parametrize("threads, report", [
    (2000, "first: block [0, 0, 0], thread [0, 0, 0]: launches _Z5childPi with 2000 threads in a block; supported are 1 to 1024 threads"),
    (4, "child: block [0, 0, 0], thread [3, 0, 0]: Invalid __global__ write of size 4 bytes"),
])  # fmt: skip
def test_a_fault_of_a_launched_kernel_is_reported(root, tmp_path, threads, report):
    source = tmp_path / "faulty.cu"
    source.write_text("__global__ void child(int* x) { x[threadIdx.x] = 1; }\n"
                      f"__global__ void first(int* x) {{ child<<<1, {threads}>>>(x); }}\n"
                      "int main() { int* x; cudaMalloc(&x, 12); first<<<1, 1>>>(x); return cudaDeviceSynchronize() == cudaSuccess; }\n")  # fmt: skip
    program = tmp_path / "faulty"
    nvcc("-rdc=true", "-arch=compute_80", "-lineinfo", "-o", program, source)
    done = run(root, program)
    assert done.returncode == 0 and f"kernkit: {report}" in done.stderr, done.stderr


def test_machine_code_alone_is_rejected(root, tmp_path):
    options = ["-gencode", "arch=compute_80,code=sm_80"]
    program = tmp_path / "program"
    nvcc(*options, "-o", program, *objects(tmp_path, *options))
    done = run(root, program)
    assert done.returncode == 3 and "it has machine code only (sm_80)" in done.stderr, done.stderr
