# SPDX-License-Identifier: Apache-2.0
"""`kernkit run`: the programs that it runs, and its errors for other programs. CTest's tests programs.* run programs
that nvcc compiles; here g++ builds files with the same ELF sections."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from cuda_tools import fatbin, include_of, tool
from kernkit import cli
from kernkit.binaries.elf import read_section
from kernkit.binaries.fatbin import newest_ptx, read_architectures

IN = '#define IN(name) __attribute__((used, section(name)))\n'
CALLS = 'extern "C" int cudaFree(void*);\nint main() { return cudaFree(nullptr) + 7; }\n'
ALONE = "int main() { return 0; }\n"
STRIPPED = "-s"  # a value of `soname` with which make() links a stripped program


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """Returns make(source, soname), which compiles a program linked with an empty library of this SONAME, or a stripped
    program."""
    folder = tmp_path_factory.mktemp("programs")

    def make(source, soname=""):
        arguments = ["g++", "-x", "c++", "-", "-x", "none"]
        if soname == STRIPPED:
            arguments.append(soname)
        elif soname:
            library = folder / soname
            names = 'extern "C" int cudaFree(void*) { return 0; }\n'
            subprocess.run([*arguments, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(library)],
                           input=names, text=True, check=True)
            arguments += ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{folder}"]
        program = folder / f"program{len(list(folder.iterdir()))}"
        subprocess.run([*arguments, "-o", str(program)], input=IN + source, text=True, check=True)
        return program

    return make


@pytest.fixture
def message_of(capfd):
    """Returns message(), which runs a program under `kernkit run`, requires exit code 3, and returns the error
    message."""

    def message(*arguments):
        assert cli.main(["run", "--runtime", "/nowhere/libcudart.so.13", *map(str, arguments)]) == 3
        return capfd.readouterr().err

    return message


OLD = 'extern "C" int cudaThreadSynchronize() { return 0; }\n'
PTX, SASS = fatbin((2, 80, 0), (1, 80, 0)), fatbin((2, 80, 0))


@pytest.mark.parametrize(
    "source, soname, sentence",
    [
        (ALONE + PTX, STRIPPED, "the CUDA runtime is linked into it statically, and its symbol table is stripped: build it "
         "without strip and without the linker's option -s, or link it with nvcc's -cudart shared, in "
         "CMake CUDA_RUNTIME_LIBRARY Shared; with the CUDA toolkit of PyPI, which has no libcudart.so, with -cudart none "
         "-LFOLDER -l:libcudart.so.13, where FOLDER is nvidia/cu13/lib in site-packages; or link its objects with "
         "kernkit's runtime, by kernkit_add_simulated() in CMake"),
        (ALONE + OLD + PTX, "", "the CUDA runtime of CUDA 12 or earlier is linked into it statically, and kernkit replaces "
         "only the runtime of CUDA 13: compile it with CUDA 13"),
        (ALONE + SASS, "libcudart.so.13", "it has machine code only (sm_80): compile it with PTX, as nvcc's "
         "-arch=compute_80 does, in CMake CUDA_ARCHITECTURES 80-virtual"),
        (ALONE + PTX, "libcudart.so.12", "it needs libcudart.so.12, and kernkit replaces libcudart.so.13: compile "
         "it with CUDA 13"),
        (ALONE + fatbin((1, 80, 0), magic=1), "libcudart.so.13", "its CUDA code cannot be read: expected a fatbin at "
         "byte 0 of section .nv_fatbin"),
    ],
)  # fmt: skip
def test_the_reason_why_a_program_cannot_run_is_reported(linked, message_of, source, soname, sentence):
    program = linked(source, soname)
    assert message_of(program) == f"kernkit: {program} cannot run without a GPU: {sentence}\n"


def test_the_capability_is_that_of_the_objects_of_a_separable_program(linked):
    """The program's own PTX determines the compute capability, not libcudadevrt.a, which nvcc -rdc=true links and which
    has machine code and newer PTX."""
    objects = fatbin((1, 80, 0), name="own") + fatbin((2, 75, 0), (2, 90, 0), (1, 121, 0), name="device_runtime")
    program = linked(ALONE + fatbin((2, 75, 0)) + objects.replace(".nv_fatbin", "__nv_relfatbin"), "libcudart.so.13")
    assert read_architectures(program) == ["sm_75", "sm_90", "compute_80", "compute_121"]
    assert newest_ptx(program) == 80
    assert newest_ptx(linked(ALONE + fatbin((2, 75, 0), (1, 100, 0)), "libcudart.so.13")) == 100


def test_libraries_of_a_program_are_inspected(linked, message_of, tmp_path):
    library = tmp_path / "libops.so"
    subprocess.run(["g++", "-s", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)], input=IN + PTX, text=True,
                   check=True)  # fmt: skip
    program = tmp_path / "program"
    subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed", str(library), "-o", str(program)],
                   input=ALONE, text=True, check=True)  # fmt: skip
    assert f"{library} cannot run without a GPU: the CUDA runtime is linked into it statically" in message_of(program)


def test_a_library_with_machine_code_only_does_not_prevent_the_start(linked, message_of, tmp_path):
    """For a library with machine code only and a static CUDA runtime, such as libcublas, `kernkit run` prints a warning
    and continues. Here `kernkit run` fails later, because the file of --runtime does not exist."""
    library = tmp_path / "libmath.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)], input=IN + SASS, text=True, check=True)
    program = tmp_path / "program"
    subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed", str(library), "-o", str(program)],
                   input=ALONE, text=True, check=True)  # fmt: skip
    assert message_of(program) == (
        "kernkit: libmath.so has machine code only (sm_80): its kernels do not run, and calls that launch them return an "
        "error: compile it with PTX, as nvcc's -arch=compute_80 does, in CMake CUDA_ARCHITECTURES 80-virtual\n"
        "kernkit: --runtime: file /nowhere/libcudart.so.13 not found; leave out the option to build the runtime\n")  # fmt: skip


def test_a_library_that_the_loader_does_not_find_is_named(linked, message_of, tmp_path):
    library = tmp_path / "libgone.so.1"
    subprocess.run(["g++", "-shared", "-Wl,-soname,libgone.so.1", "-x", "c++", "/dev/null", "-o", str(library)], check=True)
    program = tmp_path / "program"
    subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed", str(library), "-o", str(program)],
                   input=ALONE, text=True, check=True)  # fmt: skip
    assert message_of(program) == (f"kernkit: {program} needs libgone.so.1, which the system's loader does not find: add the "
                             "folder of the library to LD_LIBRARY_PATH\n")  # fmt: skip


def test_missing_files_are_reported(linked, message_of):
    assert message_of("no-such-program") == "kernkit: program no-such-program not found; build the program first, or correct the path\n"
    program = linked(ALONE + PTX, "libcudart.so.13")
    assert message_of(program) == "kernkit: --runtime: file /nowhere/libcudart.so.13 not found; leave out the option to build the runtime\n"


@pytest.mark.parametrize("damage", [b"\xff", b"a"], ids=["not UTF-8", "without an end"])
def test_a_program_with_damaged_names_is_rejected(linked, message_of, damage):
    """A program is rejected if the names in .dynstr are invalid UTF-8 or lack the terminating zero."""
    program = linked(ALONE, "libcudart.so.13")
    content, names = program.read_bytes(), read_section(program, ".dynstr")
    assert content.count(names) == 1
    program.write_bytes(content.replace(names, damage * (len(names) - 1) + (b"\0" if damage == b"\xff" else damage)))
    assert message_of(program) == (f"kernkit: {program} is damaged: .dynamic refers to a name that .dynstr does not contain; "
                             "build the file again\n")  # fmt: skip


@pytest.fixture(scope="module")
def runtime(root):
    """Returns the path of the runtime that `./kk build` builds, which requires nvcc."""
    path = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not path.exists():
        pytest.skip("no CUDA compiler: ./kk build has built no runtime")
    return path


def kernkit_run(root, *arguments, **environment):
    return subprocess.run([sys.executable, "-B", "-m", "kernkit", "run", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(root / "sdk/python"), **environment})  # fmt: skip


def test_the_runtime_takes_the_place_and_the_exit_code_is_the_programs(root, runtime, linked):
    """The program uses kernkit's runtime, and `kernkit run` returns the program's exit code. Without a device,
    cudaFree() returns cudaErrorNoDevice, 100, to which the program adds 7."""
    program = linked(CALLS + PTX, "libcudart.so.13")
    assert subprocess.run([program]).returncode == 7
    assert kernkit_run(root, "--runtime", runtime, program).returncode == 7
    assert kernkit_run(root, "--runtime", runtime, "--devices", 0, program).returncode == 107


QUERY = """
import ctypes, sys
runtime = ctypes.CDLL("libcudart.so.13")
count, major = ctypes.c_int(), ctypes.c_int()
runtime.cudaGetDeviceCount(ctypes.byref(count))
runtime.cudaDeviceGetAttribute(ctypes.byref(major), 75, 0)
print(sys.argv[1:], count.value, major.value, runtime.cudaMallocArray(), runtime.cudaMallocArray())
"""


def test_a_missing_function_is_reported_once(root, runtime):
    result = kernkit_run(root, "--runtime", runtime, "--devices", 3, "--capability", 120, sys.executable, "-c", QUERY, "--a", "b")
    assert result.stdout == "['--a', 'b'] 3 12 801 801\n"
    assert result.stderr == (
        "kernkit: cudaMallocArray() is not supported: it returns cudaErrorNotSupported; CUDA arrays, textures and surfaces "
        "are not supported: load the data from memory of cudaMalloc()\n")


# Prints the results of cudaGetDeviceCount() and cuInit(), the number of devices, and the last byte of each device's
# UUID. An argument is the value that CUDA_VISIBLE_DEVICES gets after the libraries are loaded.
VISIBLE = """
import ctypes, os, sys
runtime, driver, count = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcuda.so.1"), ctypes.c_int(-1)
not_initialised = driver.cuDeviceGetCount(ctypes.byref(count))
if sys.argv[1:]:
    os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
results = [not_initialised, runtime.cudaGetDeviceCount(ctypes.byref(count)), driver.cuInit(0), count.value]
address, uuid = ctypes.create_string_buffer(16), ctypes.create_string_buffer(16)
for device in range(count.value):
    runtime.cudaDeviceGetPCIBusId(address, 16, device)
    driver.cuDeviceGetUuid_v2(uuid, device)
    results.append((address.value.decode()[5:7], uuid.raw[15]))
print(*results, runtime.cudaMalloc(ctypes.byref(ctypes.c_void_p()), 4))
"""


@pytest.mark.parametrize("devices, list, expected", [
    (3, "2,0", "3 0 0 2 ('02', 2) ('00', 0) 0"),
    (3, "1,7,0", "3 0 0 1 ('01', 1) 0"),
    (3, "GPU-6b65726e-6b69-7400-0000-000000000001", "3 0 0 1 ('01', 1) 0"),
    (1, "", "3 100 100 0 100"),
    (1, "-1", "3 100 100 0 100"),
])  # fmt: skip
@pytest.mark.parametrize("is_set_later", [False, True], ids=["at the start", "later"])
def test_a_list_selects_visible_devices(root, runtime, devices, list, expected, is_set_later):
    """The first call that initialises CUDA reads CUDA_VISIBLE_DEVICES. If no device is visible, cudaGetDeviceCount()
    and cuInit() return 100 (no device)."""
    words, variables = ([list], {}) if is_set_later else ([], {"CUDA_VISIBLE_DEVICES": list})
    result = kernkit_run(root, "--runtime", runtime, "--devices", devices, sys.executable, "-c", VISIBLE, *words, **variables)
    assert (result.stdout, result.stderr) == (expected + "\n", "")


def test_a_list_without_a_simulated_device_is_reported(root, runtime):
    result = kernkit_run(root, "--runtime", runtime, "--devices", 2, sys.executable, "-c", VISIBLE, CUDA_VISIBLE_DEVICES="32")
    assert result.stdout == "3 100 100 0 100\n"
    assert result.stderr == ("kernkit: CUDA_VISIBLE_DEVICES: the list 32 selects none of the devices 0 to 1, so the program has no device; "
                             "change the list, or set the number of devices by kernkit run --devices\n")  # fmt: skip


@pytest.mark.parametrize("options, expected", [([], "None"), (["--device-summation"], "1")], ids=["default", "as the device"])
def test_an_option_selects_sums_of_the_device(root, runtime, monkeypatch, options, expected):
    monkeypatch.delenv("KERNKIT_DEVICE_SUMMATION", raising=False)
    code = "import os; print(os.environ.get('KERNKIT_DEVICE_SUMMATION'))"
    assert kernkit_run(root, "--runtime", runtime, *options, sys.executable, "-c", code).stdout == expected + "\n"


SWEEP = """
import ctypes, sys
runtime = ctypes.CDLL("libcudart.so.13")
for name in 2 * sys.argv[1:]:
    assert getattr(runtime, name)() == 801, name
"""
ADVICE = {
    "cudaCreateTextureObject": "load the data from memory of cudaMalloc()",
    "cudaMemcpy2DToArray": "load the data from memory of cudaMalloc()",
    "cudaGraphicsMapResources": "copy the data through host memory",
    "cudaImportExternalMemory": "copy the data through host memory",
    "cudaIpcGetMemHandle": "keep the data in one process",
    "cudaMemPoolExportPointer": "keep the data in one process",
    "cudaDeviceEnablePeerAccess": "copy with cudaMemcpyPeer()",
    "cudaMemcpyAsync_ptsz": "compile without --default-stream per-thread and pass a stream",
    "cudaGetExportTable": "call the functions of the runtime",
    "cudaGraphExecMemcpyNodeSetParams": "build a new graph and update the executable graph with cudaGraphExecUpdate()",
    "cudaMemPrefetchBatchAsync": "leave the call out, or run the program on a GPU",
}


def names_of_missing(root):
    return re.findall(r"\bX\((\w+)\)", (root / "sdk/simulator/libcudart/unsupported_api.h").read_text())


def test_each_missing_function_prints_an_alternative_once(root, runtime):
    names = names_of_missing(root)
    result = kernkit_run(root, "--runtime", runtime, sys.executable, "-c", SWEEP, *names)
    assert result.returncode == 0, result.stderr
    lines = dict(re.fullmatch(r"kernkit: (\w+)\(\) is not supported: it returns cudaErrorNotSupported; (.+)", line).groups()
                 for line in result.stderr.splitlines())  # fmt: skip
    assert sorted(lines) == sorted(names) and len(result.stderr.splitlines()) == len(names)
    for name, advice in ADVICE.items():
        assert lines[name].endswith(advice), lines[name]
    named = "kernkit: cudaGetExportTable() is not supported: it returns cudaErrorNotSupported; "
    assert any(line.startswith(named) for line in result.stderr.splitlines())


def functions_of(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    return {line.split()[2] for line in listed.stdout.splitlines()}


def test_every_function_of_the_toolkits_runtime_exists(runtime):
    nvcc = tool("nvcc")
    lib = nvcc.resolve().parents[1] / "lib64/libcudart.so.13" if nvcc else None
    if lib is None or not lib.exists():
        pytest.skip("no libcudart.so.13 of a CUDA toolkit")
    # Functions with a symbol version KERNKIT_* are kernkit's own, such as functions that kernkit's libcuda.so.1 calls.
    assert functions_of(lib) == {name for name in functions_of(runtime) if "KERNKIT_" not in name}


@pytest.fixture(scope="module")
def driver(runtime):
    path = runtime.parent / "driver/libcuda.so.1"
    if not path.exists():
        pytest.skip("no cuda.h of CUDA 13, from which the library's names are read")
    return path


def test_every_function_of_the_toolkits_driver_exists(driver):
    nvcc = tool("nvcc")
    stub = nvcc.resolve().parents[1] / "lib64/stubs/libcuda.so" if nvcc else None
    if stub is None or not stub.exists():
        pytest.skip("no libcuda.so of a CUDA toolkit")
    assert functions_of(stub) - functions_of(driver) == set()


DRIVER = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
major, device = ctypes.c_int(), ctypes.c_int()
print(driver.cuDeviceGet(ctypes.byref(device), 0), driver.cuInit(0), driver.cuDeviceGet(ctypes.byref(device), 1))
driver.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
print(major.value, driver.cuArrayCreate_v2(), driver.cuArrayCreate_v2())
"""


def test_a_python_program_calls_the_driver(root, runtime, driver):
    result = kernkit_run(root, "--runtime", runtime, "--devices", 2, "--capability", 80, sys.executable, "-c", DRIVER)
    assert result.stdout == "3 0 0\n8 801 801\n"
    assert result.stderr == ("kernkit: cuArrayCreate_v2() is not supported: it returns CUDA_ERROR_NOT_SUPPORTED; leave the call "
                             "out, or run the program on a GPU\n")  # fmt: skip


def test_a_program_of_the_driver_needs_its_library(root, runtime, linked, tmp_path):
    """A program that uses libcuda.so.1 is rejected if the runtime was built without cuda.h, and so has no
    libcuda.so.1."""
    alone = tmp_path / "libcudart.so.13"
    shutil.copy(runtime, alone)
    program = linked(ALONE, "libcuda.so.1")
    assert kernkit_run(root, "--runtime", alone, program).stderr == (
        f"kernkit: {program} cannot run without a GPU: it calls the driver's API (libcuda.so.1), which kernkit compiles with "
        f"cuda.h of CUDA 13: install the CUDA toolkit, or run {sys.executable} -m pip install nvidia-cuda-runtime\n")


def test_functions_reported_as_missing_are_missing(root):
    """No function is both defined by the runtime and on the list of missing functions: in a program that links the
    runtime's objects, the stub of a missing function could replace the function."""
    folder = root / "sdk/simulator"
    missing = set(names_of_missing(root))
    sources = [*folder.glob("runtime/*.cc"), *folder.glob("libcudart/*.cc")]
    defined = {name for path in sources for name in re.findall(r"^\w[\w* ]*?\b(_*cuda[A-Z]\w*)\(", path.read_text(), re.M)}
    assert len(missing) > 200 and len(defined) > 110
    assert missing & defined == set()


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


def compiled(tmp_path, source, *arguments):
    if tool("nvcc") is None:
        pytest.skip("no nvcc")
    (tmp_path / "program.cu").write_text(source)
    subprocess.run([tool("nvcc"), *NVCC, *arguments, "-o", tmp_path / "program", tmp_path / "program.cu"], check=True)
    return tmp_path / "program"


def test_a_program_without_kernels_runs(root, runtime, tmp_path):
    result = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, WITHOUT_KERNELS))
    assert result.stdout == "1 device\n", result.stderr


def test_a_texture_is_rejected_by_its_name_and_events_have_times(root, runtime, tmp_path):
    result = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, TEXTURE))
    assert result.stdout == "cudaErrorNotSupported\ntimes\n"
    location = r"texture\w+\.h:\d+ \(inlined at texture\w+\.h:\d+, program\.cu:3\)"
    assert re.search(rf"^kernkit: k cannot run: tex\.1d\.v4\.f32\.s32 \({location}\): ", result.stderr), result.stderr


TEXTURES = """
#include <cstdio>
template <class T> struct Reader {
  cudaTextureObject_t texture;
  __device__ T operator()(float x) const {
    return tex2D<T>(texture, x, 0.5f);
  }
};
template <class T> __global__ void read(Reader<T> reader, T* y) {
  y[threadIdx.x] = reader(threadIdx.x);
}
__global__ void twice(cudaSurfaceObject_t s) {
  float value;
  surf2Dread(&value, s, threadIdx.x * 4, 0);
  surf2Dwrite(value * 2, s, threadIdx.x * 4, 0);
}
__device__ __noinline__ float fetch(cudaTextureObject_t t, float x) {
  return tex1D<float>(t, x);
}
__global__ void calls(cudaTextureObject_t t, float* y) {
  *y = fetch(t, 1);
}
__global__ void count(float* y) { y[threadIdx.x] = threadIdx.x; }
int main(int words, char**) {
  float *y, x[32];
  cudaMalloc(&y, 512);
  count<<<1, 32>>>(y);
  if (words > 1) {
    read<<<1, 32>>>(Reader<float>{0}, y);
    read<<<1, 32>>>(Reader<float4>{0}, reinterpret_cast<float4*>(y));
    twice<<<1, 32>>>(0);
    calls<<<1, 1>>>(0, y);
    std::puts(cudaGetErrorName(cudaGetLastError()));
  }
  cudaMemcpy(x, y, sizeof(x), cudaMemcpyDefault);
  std::printf("%g %s\\n", x[31], cudaGetErrorName(cudaGetLastError()));
}
"""


def test_a_program_runs_that_has_kernels_with_textures(root, runtime, tmp_path):
    """A program with kernels that use textures runs if the program does not launch these kernels. If such a kernel is
    launched, the error names the instruction and the user's lines, starting with the innermost line."""
    program = compiled(tmp_path, TEXTURES)
    result = kernkit_run(root, "--runtime", runtime, program)
    assert (result.stdout, result.stderr) == ("31 cudaSuccess\n", "")
    result = kernkit_run(root, "--runtime", runtime, program, "launch")
    assert result.stdout == "cudaErrorNotSupported\n31 cudaSuccess\n"
    why = r": textures and surfaces are not supported: load the data from memory of cudaMalloc\(\)"
    lines = result.stderr.splitlines()
    for line, (kernel, instruction, locations) in zip(lines, (
        ("read<float>", "tex.2d.v4.f32.f32", "program.cu:6, program.cu:10"),
        ("read<float4>", "tex.2d.v4.f32.f32", "program.cu:6, program.cu:10"),
        ("twice", "suld.b.2d.b32.trap", "program.cu:14"),
        ("calls", "tex.1d.v4.f32.f32", "program.cu:18"),
    )):  # fmt: skip
        pattern = rf"kernkit: {kernel} cannot run: {instruction} \([\w.]+:\d+ \(inlined at (\w+_functions.h:\d+, )?{locations}\)\){why}"
        assert re.fullmatch(pattern, line), line
    assert len(lines) == 4


INLINED = """
template <class T> __device__ float pick(cudaTextureObject_t t, T i) {
  return tex2D<float>(t, i, i);
}
__device__ float row(cudaTextureObject_t t, int i) {
  return pick(t, i) * 2;
}
__global__ void textured(cudaTextureObject_t t, float* y) {
  *y = row(t, 3);
}
__device__ __forceinline__ float load(const float* x, int i) {
  return x[i];
}
template <class T> __device__ __forceinline__ float twice(const T* x, int i) {
  return load(x, i) * 2;
}
__global__ void outside(float* y) {
  *y = twice(y, 3);
  y[1] = twice(y, threadIdx.x + 900);
}
int main() {
  float* y;
  cudaMalloc(&y, 64);
  textured<<<1, 1>>>(0, y);
  outside<<<1, 1>>>(y);
  cudaDeviceSynchronize();
}
"""


def test_a_place_in_inlined_functions_ends_at_the_line_of_the_kernel(root, runtime, tmp_path):
    result = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, INLINED))
    texture = r"texture\w+\.h:\d+ \(inlined at texture\w+\.h:\d+, program\.cu:3, program\.cu:6, program\.cu:9\)"
    assert re.search(rf"^kernkit: textured cannot run: tex\.2d\S* \({texture}\): ", result.stderr, re.M), result.stderr
    assert " an allocation of 64 bytes (program.cu:12 (inlined at program.cu:15, program.cu:19))\n" in result.stderr


MACHINE_CODE = """
#include <cuda_runtime.h>
__global__ void twice(float* y) { y[threadIdx.x] *= 2; }
extern "C" int launch_twice(float* y) {
  twice<<<1, 4>>>(y);
  return cudaGetLastError();
}
"""
USER = """
#include <cstdio>
extern "C" int launch_twice(float*);
__global__ void fill(float* y) { y[threadIdx.x] = 3; }
int main() {
  float *y, x[4];
  cudaMalloc(&y, 16);
  fill<<<1, 4>>>(y);
  const int error = launch_twice(y);
  cudaMemcpy(x, y, 16, cudaMemcpyDefault);
  std::printf("%s %g\\n", cudaGetErrorName(static_cast<cudaError_t>(error)), x[3]);
}
"""


@pytest.mark.parametrize("architecture", [80, 90])  # the simulated device has compute capability 9.0
def test_a_launch_of_machine_code_names_library_kernel_and_architectures(root, runtime, tmp_path, monkeypatch, architecture):
    if tool("nvcc") is None:
        pytest.skip("no nvcc")
    monkeypatch.chdir(tmp_path)  # so that the path of the library in the message is relative
    (tmp_path / "twice.cu").write_text(MACHINE_CODE)
    code = f"arch=compute_{architecture},code=sm_{architecture}"
    subprocess.run([tool("nvcc"), "-cudart", "shared", "-gencode", code, "-shared", "-Xcompiler", "-fPIC",
                    "-o", "libtwice.so", "twice.cu"], check=True)  # fmt: skip
    result = kernkit_run(root, "--runtime", runtime, compiled(tmp_path, USER, "./libtwice.so"))
    assert result.stdout == "cudaErrorNoKernelImageForDevice 3\n", result.stderr
    assert result.stderr == (
        f"kernkit: libtwice.so has machine code only (sm_{architecture}): its kernels do not run, and calls that launch "
        "them return an error: compile it with PTX, as nvcc's -arch=compute_80 does, in CMake CUDA_ARCHITECTURES "
        f"80-virtual\nkernkit: twice cannot run: libtwice.so has machine code only (sm_{architecture}), which runs on a "
        "GPU only: compile it with PTX, as nvcc's -arch=compute_80 does\n")  # fmt: skip


BLAS = """
#include <cstdio>
#include <cublas_v2.h>
__global__ void fill(float* y) { y[threadIdx.x] = 3; }
int main() {
  float *y, x[8], one = 1, zero = 0;
  cudaMalloc(&y, 32);
  fill<<<1, 8>>>(y);
  cublasHandle_t handle = nullptr;
  const int created = cublasCreate(&handle);
  const int multiplied = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, y, 2, y, 2, &zero, y + 4, 2);
  cudaMemcpy(x, y, 32, cudaMemcpyDefault);
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  std::printf("%d %d %g %d.%d\\n", created, multiplied, x[7], device.major, device.minor);
}
"""
FFT = """
#include <cstdio>
#include <cufft.h>
int main() {
  cufftComplex* y;
  cudaMalloc(&y, 512);
  cufftHandle plan = 0;
  const bool planned = cufftPlan1d(&plan, 64, CUFFT_C2C, 1) == CUFFT_SUCCESS;
  std::printf("%d %d\\n", planned, cufftExecC2C(plan, y, y, CUFFT_FORWARD) == CUFFT_SUCCESS);
}
"""


@pytest.mark.parametrize(
    "library, names, source, output",
    [("cublas", "libcublas.so.13, libcublasLt.so.13", BLAS, "1 1 3 9.0\n"),  # CUBLAS_STATUS_NOT_INITIALIZED
     ("cufft", "libcufft.so.12", FFT, "0 0\n")],
    ids=["cublas", "cufft"],
)  # fmt: skip
def test_functions_of_nvidias_libraries_return_errors_and_are_named_once(root, runtime, tmp_path, library, names, source, output):
    nvcc = tool("nvcc")
    folder = nvcc.resolve().parents[1] / "lib64" if nvcc else None
    if folder is None or not (folder / f"lib{library}.so").exists():
        pytest.skip(f"no lib{library}.so of a CUDA toolkit")
    program = compiled(tmp_path, source, f"-l{library}")
    search_path = os.pathsep.join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")]))
    without_driver = shutil.copy(runtime, tmp_path)
    for library in (runtime, without_driver):  # without a driver, a GPU is hidden from the library only
        result = kernkit_run(root, "--runtime", library, program, LD_LIBRARY_PATH=search_path, CUDA_VISIBLE_DEVICES="0")
        assert (result.stdout, result.returncode) == (output, 0), result.stderr
        assert result.stderr.count("\n") == 1 and result.stderr.startswith(f"kernkit: {names}: the CUDA runtime is linked into ")


@pytest.mark.slow
def test_the_runtime_is_compiled_where_it_is_needed(root, tmp_path):
    """If no runtime is found, CMake compiles the runtime into the user's cache. A second call uses the cached
    runtime."""
    if shutil.which("ccache"):
        os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    arguments = [sys.executable, "-c", QUERY]
    first = kernkit_run(root, *arguments, XDG_CACHE_HOME=str(tmp_path), KK_ROOT="")
    assert first.stdout == "[] 1 8 801 801\n", first.stderr
    assert "kernkit: compiling the runtime, once, into " in first.stderr
    second = kernkit_run(root, *arguments, XDG_CACHE_HOME=str(tmp_path), KK_ROOT="")
    assert second.stdout == first.stdout and "compiling" not in second.stderr


# (header in libcudart/, its struct, the struct of driver_types.h with the same layout)
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
    path = root / "sdk/simulator/libcudart" / header
    body = re.search(rf"^struct {ours} {{\n(.*?)^}};", path.read_text(), re.MULTILINE | re.DOTALL)[1]
    members = re.findall(r"(\w+)(?:\[\d+\])?[,;]", body)
    named = [name for name in members if not name.startswith("unused")]
    assert named
    lines = [f'#include "{path}"', "#include <driver_types.h>", f"using Ours = kernkit::simulator::{ours};",
             f"static_assert(sizeof(Ours) == sizeof({theirs}));"]  # fmt: skip
    for name in named:
        lines.append(f"static_assert(offsetof(Ours, {name}) == offsetof({theirs}, {name}));")
        lines.append(f"static_assert(sizeof(Ours::{name}) == sizeof({theirs}::{name}));")
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-isystem", str(folder), "-x", "c++", "-"],
                   input="\n".join(lines), text=True, check=True)  # fmt: skip
