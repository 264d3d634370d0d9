# SPDX-License-Identifier: Apache-2.0
"""`kernkit run`: which programs it runs, and what it says of others. The programs that nvcc compiled are
CTest's programs.*; here g++ makes what looks like one."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from cuda_tools import fatbin, include_of, tool
from kernkit import cli

IN = '#define IN(name) __attribute__((used, section(name)))\n'
CALLS = 'extern "C" int cudaFree(void*);\nint main() { return cudaFree(nullptr) + 7; }\n'
ALONE = "int main() { return 0; }\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Compiles a program that is linked with an empty library of this SONAME."""
    folder = tmp_path_factory.mktemp("programs")

    def make(source, soname=""):
        words = ["g++", "-x", "c++", "-", "-x", "none"]
        if soname:
            library = folder / soname
            names = 'extern "C" int cudaFree(void*) { return 0; }\n'
            subprocess.run([*words, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(library)],
                           input=names, text=True, check=True)
            words += ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{folder}"]
        program = folder / f"program{len(list(folder.iterdir()))}"
        subprocess.run([*words, "-o", str(program)], input=IN + source, text=True, check=True)
        return program

    return make


@pytest.fixture
def said(capfd):
    """What `kernkit run` refuses a program with."""

    def say(*words):
        assert cli.main(["run", "--runtime", "/nowhere/libcudart.so.13", *map(str, words)]) == 3
        return capfd.readouterr().err

    return say


PTX, SASS = fatbin((2, 80, 0), (1, 80, 0)), fatbin((2, 80, 0))


@pytest.mark.parametrize(
    "source, soname, sentence",
    [
        (ALONE + PTX, "", "the CUDA runtime is linked into it statically: link it with nvcc's -cudart shared, in "
         "CMake CUDA_RUNTIME_LIBRARY Shared; or link its objects with kernkit's runtime, by kernkit_add_on_ptx() in "
         "CMake"),
        (ALONE + SASS, "libcudart.so.13", "it has machine code only (sm_80): compile it with PTX, as nvcc's "
         "-arch=compute_80 does, in CMake CUDA_ARCHITECTURES 80-virtual"),
        (ALONE + PTX, "libcuda.so.1", "it calls the driver's API (libcuda.so.1), which kernkit does not have: use the "
         "runtime's API, cudaMalloc and <<<>>>"),
        (ALONE + PTX, "libcudart.so.12", "it needs libcudart.so.12, and kernkit stands in for libcudart.so.13: compile "
         "it with CUDA 13"),
        (ALONE + fatbin((1, 80, 0), magic=1), "libcudart.so.13", "its CUDA code cannot be read: there is no fatbin at "
         "byte 0 of section .nv_fatbin"),
    ],
)  # fmt: skip
def test_it_says_why_a_program_cannot_run(made, said, source, soname, sentence):
    program = made(source, soname)
    assert said(program) == f"kernkit: {program} cannot run without a GPU: {sentence}\n"


def test_it_looks_into_the_libraries_of_a_program(made, said, tmp_path):
    library = tmp_path / "libops.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)], input=IN + PTX, text=True, check=True)
    program = tmp_path / "program"
    subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed", str(library), "-o", str(program)],
                   input=ALONE, text=True, check=True)  # fmt: skip
    assert f"{library} cannot run without a GPU: the CUDA runtime is linked into it statically" in said(program)


def test_a_library_with_machine_code_only_does_not_prevent_the_start(made, said, tmp_path):
    """As libcublas, whose runtime is linked statically: the program comes as far as the missing runtime."""
    library = tmp_path / "libmath.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)], input=IN + SASS, text=True, check=True)
    program = tmp_path / "program"
    subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed", str(library), "-o", str(program)],
                   input=ALONE, text=True, check=True)  # fmt: skip
    assert said(program) == (
        "kernkit: libmath.so has machine code only: its kernels do not run, and calls that launch them return an error\n"
        "kernkit: there is no file /nowhere/libcudart.so.13\n")  # fmt: skip


def test_what_is_not_there_is_said(made, said):
    assert said("no-such-program") == "kernkit: there is no program no-such-program\n"
    program = made(ALONE + PTX, "libcudart.so.13")
    assert said(program) == "kernkit: there is no file /nowhere/libcudart.so.13\n"


@pytest.fixture(scope="module")
def runtime(root):
    """What `./kk build` leaves, where nvcc is."""
    path = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not path.exists():
        pytest.skip("no CUDA compiler, whose programs this library is for")
    return path


def kernkit_run(root, *words, **environment):
    return subprocess.run([sys.executable, "-B", "-m", "kernkit", "run", *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "sdk/python"), **environment})  # fmt: skip


def test_the_runtime_takes_the_place_and_the_exit_code_is_the_programs(root, runtime, made):
    """Of a library that answers by 0, and the program returns 7 more: cudaErrorNoDevice is 100."""
    program = made(CALLS + PTX, "libcudart.so.13")
    assert subprocess.run([program]).returncode == 7
    assert kernkit_run(root, "--runtime", runtime, program).returncode == 7
    assert kernkit_run(root, "--runtime", runtime, "--devices", 0, program).returncode == 107


ASK = """
import ctypes, sys
runtime = ctypes.CDLL("libcudart.so.13")
count, major = ctypes.c_int(), ctypes.c_int()
runtime.cudaGetDeviceCount(ctypes.byref(count))
runtime.cudaDeviceGetAttribute(ctypes.byref(major), 75, 0)
print(sys.argv[1:], count.value, major.value, runtime.cudaMallocArray(), runtime.cudaMallocArray())
"""


def test_a_missing_function_says_its_name_once(root, runtime):
    done = kernkit_run(root, "--runtime", runtime, "--devices", 3, "--capability", 120, sys.executable, "-c", ASK, "--a", "b")
    assert done.stdout == "['--a', 'b'] 3 12 801 801\n"
    assert done.stderr == "kernkit: cudaMallocArray() is not supported: it returns cudaErrorNotSupported\n"


def functions_of(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    return {line.split()[2] for line in listed.stdout.splitlines()}


def test_it_has_every_function_of_the_toolkits_runtime(runtime):
    nvcc = tool("nvcc")
    lib = nvcc.resolve().parents[1] / "lib64/libcudart.so.13" if nvcc else None
    if lib is None or not lib.exists():
        pytest.skip("no libcudart.so.13 of a CUDA toolkit")
    assert functions_of(lib) == functions_of(runtime)


def test_what_is_called_missing_is_missing(root):
    """In a program that is linked from objects the linker would take what is called missing first."""
    folder = root / "sdk/cuda_on_cpu"
    missing = set(re.findall(r"\bX\((\w+)\)", (folder / "ptx/program/names.h").read_text()))
    sources = [*folder.glob("runtime/*.cc"), *folder.glob("ptx/program/*.cc")]
    there = {name for path in sources for name in re.findall(r"^\w[\w* ]*?\b(_*cuda[A-Z]\w*)\(", path.read_text(), re.M)}
    assert len(missing) > 250 and len(there) > 110
    assert missing & there == set()


NVCC = ("-arch=compute_80", "-cudart", "shared", "-lineinfo")
WITHOUT_KERNELS = """
#include <cstdio>
#include <cuda_runtime.h>
int main() {
  int devices = 0;
  cudaGetDeviceCount(&devices);
  std::printf("%d device\\n", devices);
}
"""
TEXTURE = """
#include <cstdio>
__global__ void k(cudaTextureObject_t t, float* y) { *y = tex1Dfetch<float>(t, 3); }
__global__ void wait(float* y) {
  for (int i = 0; i < 20000; ++i) atomicAdd(y, 1.0f);
}
int main() {
  float *y, milliseconds[2];
  cudaMalloc(&y, 4);
  k<<<1, 1>>>(0, y);
  std::puts(cudaGetErrorName(cudaGetLastError()));
  cudaEvent_t events[3];
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  cudaEventRecord(events[0]);
  cudaEventRecord(events[1]);
  for (int i = 0; i < 4; ++i) wait<<<1, 32>>>(y);
  cudaEventRecord(events[2]);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) cudaEventElapsedTime(&milliseconds[i], events[i], events[i + 1]);
  std::puts(milliseconds[0] >= 0 && milliseconds[1] > milliseconds[0] ? "times" : "no times");
}
"""


def compiled(tmp_path, source, *words):
    if tool("nvcc") is None:
        pytest.skip("no nvcc")
    (tmp_path / "program.cu").write_text(source)
    subprocess.run([tool("nvcc"), *NVCC, *words, "-o", tmp_path / "program", tmp_path / "program.cu"], check=True)
    return tmp_path / "program"


def test_a_program_without_kernels_runs(root, runtime, tmp_path):
    done = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, WITHOUT_KERNELS))
    assert done.stdout == "1 device\n", done.stderr


def test_separable_compilation_is_rejected_by_its_name(root, runtime, tmp_path):
    done = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, TEXTURE, "-rdc=true"))
    assert done.returncode == 3 and "nvcc compiled it with -rdc=true (separable compilation)" in done.stderr


def test_a_texture_is_rejected_by_its_name_and_events_have_times(root, runtime, tmp_path):
    done = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, TEXTURE))
    assert done.stdout == "cudaErrorNotSupported\ntimes\n"
    assert re.search(r"^kernkit: k cannot run: tex\.1d\.v4\.f32\.s32 \((program\.cu|texture\w+\.h):\d+.*\): ", done.stderr), done.stderr


@pytest.mark.all
def test_the_runtime_is_compiled_where_it_is_needed(root, tmp_path):
    """By CMake, into the cache of a user; the second time it is there."""
    if shutil.which("ccache"):
        os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    words = [sys.executable, "-c", ASK]
    first = kernkit_run(root, *words, XDG_CACHE_HOME=str(tmp_path), KK_ROOT="")
    assert first.stdout == "[] 1 9 801 801\n", first.stderr
    assert "kernkit: compiling the runtime, once, into " in first.stderr
    second = kernkit_run(root, *words, XDG_CACHE_HOME=str(tmp_path), KK_ROOT="")
    assert second.stdout == first.stdout and "compiling" not in second.stderr


# Header in ptx/program, struct in it, the struct of driver_types.h that it equals.
LAYOUTS = [
    ("device_properties.h", "DeviceProperties", "cudaDeviceProp"),
    ("structures.h", "Extent", "cudaExtent"),
    ("structures.h", "PitchedPtr", "cudaPitchedPtr"),
    ("structures.h", "Position", "cudaPos"),
    ("structures.h", "Memcpy3DParms", "cudaMemcpy3DParms"),
    ("structures.h", "MemLocation", "cudaMemLocation"),
    ("structures.h", "MemPoolProps", "cudaMemPoolProps"),
    ("structures.h", "MemAccessDesc", "cudaMemAccessDesc"),
    ("structures.h", "KernelNodeParams", "cudaKernelNodeParams"),
    ("structures.h", "MemsetParams", "cudaMemsetParams"),
    ("structures.h", "HostNodeParams", "cudaHostNodeParams"),
    ("structures.h", "MemAllocNodeParams", "cudaMemAllocNodeParams"),
    ("structures.h", "GraphExecUpdateResultInfo", "cudaGraphExecUpdateResultInfo"),
]


@pytest.mark.parametrize("header, ours, theirs", LAYOUTS)
def test_a_struct_has_the_layout_of_nvidias(root, header, ours, theirs):
    folder = include_of("driver_types.h")
    if folder is None:
        pytest.skip("driver_types.h is not installed (wheel nvidia-cuda-runtime)")
    path = root / "sdk/cuda_on_cpu/ptx/program" / header
    body = re.search(rf"^struct {ours} {{\n(.*?)^}};", path.read_text(), re.MULTILINE | re.DOTALL)[1]
    members = re.findall(r"(\w+)(?:\[\d+\])?[,;]", body)
    named = [name for name in members if not name.startswith("unused")]
    assert named
    lines = [f'#include "{path}"', "#include <driver_types.h>", f"using Ours = kernkit::cuda_on_cpu::{ours};",
             f"static_assert(sizeof(Ours) == sizeof({theirs}));"]  # fmt: skip
    for name in named:
        lines.append(f"static_assert(offsetof(Ours, {name}) == offsetof({theirs}, {name}));")
        lines.append(f"static_assert(sizeof(Ours::{name}) == sizeof({theirs}::{name}));")
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-isystem", str(folder), "-x", "c++", "-"],
                   input="\n".join(lines), text=True, check=True)  # fmt: skip
