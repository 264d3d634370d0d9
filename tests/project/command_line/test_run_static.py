# SPDX-License-Identifier: Apache-2.0
"""`kernkit run`, `sanitize` and `counters` with a CUDA runtime that is linked statically, nvcc's default."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from cuda_tools import fatbin, tool

PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
__device__ int steps[4] = {1, 2, 3, 4};
__constant__ float factor = 2;
__global__ void fill(int n, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * i + steps[i % 4];
}
__global__ void shift(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
int main(int count, char** words) {
  const int n = 100;
  float *y, values[n], three = 3;
  cudaMalloc(&y, sizeof(values));
  cudaMemcpyToSymbol(factor, &three, sizeof(three));
  const bool is_outside = count > 1 && std::strcmp(words[1], "outside") == 0;
  fill<<<4, 32>>>(is_outside ? n + 1 : n, y);
  if (count > 1 && std::strcmp(words[1], "race") == 0) shift<<<1, 64>>>(y);
  const cudaError_t error = cudaMemcpy(values, y, sizeof(values), cudaMemcpyDefault);
  std::printf("%s %g\\n", cudaGetErrorName(error), values[99]);
  if (count > 2) {
    void* library = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::puts(dlerror()), 1;
    const auto twice = reinterpret_cast<int (*)(float*)>(dlsym(library, "twice"));
    std::printf("%d\\n", twice(y));
    cudaMemcpy(values, y, sizeof(values), cudaMemcpyDefault);
    std::printf("%g\\n", values[3]);
  }
  return 4;
}
"""
LIBRARY = """
#include <cuda_runtime.h>
struct Early {
  Early() { error = cudaMalloc(&memory, 400); }
  void* memory;
  cudaError_t error;
};
static Early early;
__global__ void twice_kernel(float* y) { y[threadIdx.x] *= 2; }
extern "C" int twice(float* y) {
  twice_kernel<<<1, 4>>>(y);
  return 1000 * early.error + cudaDeviceSynchronize();
}
"""


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def runtime(root):
    path = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not path.exists():
        pytest.skip("no CUDA compiler: ./kk build has built no runtime")
    return path


@pytest.fixture
def kernkit(root, runtime):
    def run(command, *arguments):
        return subprocess.run([sys.executable, "-B", "-m", "kernkit", command, "--runtime", *map(str, (runtime, *arguments))],
                              capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(root / "sdk/python")})  # fmt: skip

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Returns a folder with the program compiled by nvcc with default options (program) and for compute_80
    (compute_80), and with libtwice.so, compiled with default options."""
    nvcc = tool("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    folder = tmp_path_factory.mktemp("static")
    (folder / "program.cu").write_text(PROGRAM)
    (folder / "twice.cu").write_text(LIBRARY)
    commands = [("-lineinfo", "-o", "program", "program.cu"), ("-arch=compute_80", "-o", "compute_80", "program.cu"),
                ("-shared", "-Xcompiler", "-fPIC", "-o", "libtwice.so", "twice.cu")]  # fmt: skip
    for started in [subprocess.Popen([nvcc, *arguments], cwd=folder) for arguments in commands]:
        assert started.wait() == 0
    return folder


@pytest.mark.parametrize("name", ["program", "compute_80"])
def test_a_program_of_plain_nvcc_runs(kernkit, folder, name):
    result = kernkit("run", folder / name)
    assert (result.stdout, result.stderr, result.returncode) == ("cudaSuccess 301\n", "", 4)


def test_a_store_out_of_bounds_is_reported_with_its_line(kernkit, folder):
    result = kernkit("run", folder / "program", "outside")
    assert result.stdout.startswith("cudaErrorIllegalAddress ")
    fault = (f"Invalid __global__ write of size 4 bytes, 0 bytes after an allocation of 400 bytes "
             f"(program.cu:{line_of('y[i] = ')})")  # fmt: skip
    assert fault in result.stderr and result.returncode == 4


def test_the_tools_report_faults_and_count(kernkit, folder, tmp_path):
    assert kernkit("sanitize", folder / "program").stderr.endswith(
        "kernkit sanitize: 0 findings (memcheck: 0, racecheck: 0, initcheck: 0, synccheck: 0)\n")  # fmt: skip
    result = kernkit("sanitize", folder / "program", "race")
    assert result.returncode != 0 and f"(program.cu:{line_of('tile[threadIdx.x] =')})" in result.stderr, result.stderr
    assert re.search(r"racecheck: [1-9]", result.stderr), result.stderr
    assert re.search(r"^fill +4 ", kernkit("counters", folder / "program").stderr, re.MULTILINE)


def test_a_library_that_the_program_loads_runs_from_its_constructors_on(kernkit, folder):
    result = kernkit("run", folder / "program", "plain", folder / "libtwice.so")
    assert (result.stdout, result.stderr) == ("cudaSuccess 301\n0\n26\n", "")


FROM_PYTHON = """
import ctypes, sys
library, runtime = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcudart.so.13")
memory, x = ctypes.c_void_p(), (ctypes.c_float * 4)(1, 2, 3, 4)
runtime.cudaMalloc(ctypes.byref(memory), 16)
runtime.cudaMemcpy(memory, x, 16, 4)
print(library.twice(memory))
runtime.cudaMemcpy(x, memory, 16, 4)
print(*x)
"""


def test_a_library_that_python_loads_runs(kernkit, folder):
    result = kernkit("run", sys.executable, "-c", FROM_PYTHON, folder / "libtwice.so")
    assert (result.stdout, result.stderr) == ("0\n2.0 4.0 6.0 8.0\n", "")


def test_a_stripped_library_that_python_loads_is_reported(kernkit, folder, tmp_path):
    library = tmp_path / "libtwice.so"
    subprocess.run(["strip", "-o", library, folder / "libtwice.so"], check=True)
    result = kernkit("run", sys.executable, "-c", FROM_PYTHON, library)
    assert result.stdout.endswith("1.0 2.0 3.0 4.0\n") and not result.stdout.startswith("0\n")
    assert result.stderr == (
        f"kernkit: {library}: the CUDA runtime is linked into it statically, and its symbol table is stripped, so its "
        "kernels do not run: build it without strip and without the linker's option -s, or link it with nvcc's -cudart shared\n")


def test_a_program_needs_a_library_whose_constructors_run_first(kernkit, folder, tmp_path):
    """A program runs if it needs a library with a static CUDA runtime, although the loader runs the library's
    constructors before the constructors of kernkit's runtime."""
    (tmp_path / "main.cc").write_text('extern "C" int twice(float*);\nint main() { return twice(nullptr) == 700 ? 5 : 6; }\n')
    subprocess.run(["g++", "-o", tmp_path / "main", tmp_path / "main.cc", folder / "libtwice.so", f"-Wl,-rpath,{folder}"],
                   check=True)  # fmt: skip
    result = kernkit("run", tmp_path / "main")
    assert result.returncode == 5 and "in no allocation" in result.stderr, result.stderr


OLD = """
extern "C" int cudaThreadSynchronize() { return 0; }
extern "C" int libcudart_static_0() { return cudaThreadSynchronize(); }
"""


def test_a_library_of_cuda_12_that_python_loads_is_reported(kernkit, tmp_path):
    library = tmp_path / "libold.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library], input=OLD, text=True, check=True)
    result = kernkit("run", sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library)
    assert result.stderr == (f"kernkit: {library}: the CUDA runtime of CUDA 12 or earlier is linked into it statically, and "
                             "kernkit replaces only the runtime of CUDA 13: compile it with CUDA 13\n")  # fmt: skip


SCALE = """
import ctypes, sys

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]

class Value(ctypes.Union):
    _fields_ = [("f64", ctypes.c_double), ("ptr", ctypes.c_void_p)]

class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small", ctypes.c_uint32), ("v", Value)]

library, runtime = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcudart.so.13")
library.kernkit_last_error.restype = ctypes.c_char_p
memory, x = ctypes.c_void_p(), (ctypes.c_float * 2)(3, 4)
runtime.cudaMalloc(ctypes.byref(memory), 8)
runtime.cudaMemcpy(memory, x, 8, 4)
cuda, float32 = (2, 0), (2, 32, 1)
tensor = Tensor(memory, cuda, 1, *float32, (ctypes.c_int64 * 1)(2), None, 0)
arguments, result = (Any * 3)(), Any()
for argument in arguments[:2]:
    argument.type_index, argument.v.ptr = 7, ctypes.addressof(tensor)
arguments[2].type_index, arguments[2].v.f64 = 3, 2.0
print(library.__tvm_ffi_scale(None, arguments, 3, ctypes.byref(result)), library.kernkit_last_error().decode())
runtime.cudaMemcpy(x, memory, 8, 4)
print(*x)
"""


def test_a_stripped_library_of_kernkit_runs(kernkit, library, tmp_path):
    """An op of a stripped library runs, as in an installed wheel. `kernkit run` finds the functions of the library's
    CUDA runtime in a table that the library exports."""
    if b".nv_fatbin" not in library.read_bytes():
        pytest.skip("the library was built without CUDA")
    stripped = tmp_path / library.name
    subprocess.run(["strip", "-o", stripped, library], check=True)
    result = kernkit("run", sys.executable, "-c", SCALE, stripped)
    assert (result.stdout, result.stderr) == ("0 \n6.0 8.0\n", "")


def test_a_program_linked_with_static_is_rejected(kernkit, tmp_path):
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    source = '#define IN(name) __attribute__((used, section(name)))\nint main() {}\n' + fatbin((1, 80, 0))
    program = tmp_path / "program"
    result = subprocess.run(["g++", "-static", "-x", "c++", "-", "-o", program], input=source, text=True, capture_output=True)
    if result.returncode != 0:
        pytest.skip("the C library cannot be linked statically")
    assert kernkit("run", program).stderr == (
        f"kernkit: {program} cannot run without a GPU: it is linked with -static, so that no library can be loaded in place of "
        "the CUDA runtime: link it without -static\n")  # fmt: skip
