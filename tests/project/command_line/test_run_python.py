# SPDX-License-Identifier: Apache-2.0
"""`kernkit run` with Python programs: settings for packages that compile kernels themselves."""

import importlib.util
import os
import subprocess
import sys

import pytest
from kernkit import torch_cuda
from kernkit.simulator import clients, program


@pytest.fixture(scope="module")
def driver(root):
    path = root / "build/release/kernkit_cudart/driver/libcuda.so.1"
    if not path.exists():
        pytest.skip("no libcuda.so.1 in the build")
    return path


def run_python(root, folder, *arguments, cwd=None, **environment):
    """Runs this Python under `kernkit run`, with libcudart.so.13 of the folder as the runtime."""
    environment = {**os.environ, "PYTHONPATH": str(root / "sdk/python"), **environment}
    environment.pop("KK_ROOT", None)
    command = ["-B", "-m", "kernkit", "run", "--runtime", folder / "libcudart.so.13", sys.executable, *arguments]
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, cwd=cwd)


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("python3.11", "\x7fELF", True),
        ("script", "#!/usr/bin/env python3\n", True),
        ("script", "#!/bin/sh\n", False),
        ("pythonic", "\x7fELF", False),
    ],
)
def test_python_programs_are_known_by_their_name_or_first_line(tmp_path, name, text, expected):
    program = tmp_path / name
    program.write_text(text)
    assert clients.is_python(str(program)) is expected


def test_caches_are_private(tmp_path):
    settings = clients.settings(tmp_path, None, {"TRITON_CACHE_DIR": "/data/triton"})
    assert settings["TRITON_CACHE_DIR"] == "/data/triton/kernkit"
    assert settings["NUMBA_CACHE_DIR"] == str(tmp_path / "caches/numba")
    assert "TRITON_PTXAS_PATH" not in settings  # libcuda.so.1 is missing
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given, expected", [("", "8.0+PTX"), ("8.0", "8.0+PTX"), ("8.0;9.0;", "8.0;9.0+PTX"), ("8.0+PTX;9.0", "8.0+PTX;9.0")]
)
def test_extensions_of_pytorch_keep_ptx(given, expected):
    assert torch_cuda.architectures(given, "80") == expected


def test_the_hook_runs_after_the_import_of_torch(root, tmp_path):
    """The hook does not change a build of torch without CUDA, and a sitecustomize of the user still runs."""
    (tmp_path / "sitecustomize.py").write_text("print('sitecustomize of the user')")
    (tmp_path / "torch.py").write_text("class version:\n    cuda = None\nprint('torch')")
    settings = torch_cuda.settings(tmp_path / "caches", [root / "sdk"], "80", {"PYTHONPATH": str(tmp_path)})
    program = "import torch, sys; print(sys.modules['_kernkit_torch_cuda'].start.__doc__.split()[0]); import json"
    result = subprocess.run([sys.executable, "-c", program], env={**os.environ, **settings}, capture_output=True, text=True)
    assert (result.stdout.splitlines(), result.stderr) == (["sitecustomize of the user", "torch", "Makes"], "")
    assert not (tmp_path / "caches").exists()


def test_a_library_without_the_simulator_has_no_hook(tmp_path):
    assert torch_cuda.settings(tmp_path, [tmp_path], "80", {}) == {}


def test_the_assembler_passes_ptx_on(tmp_path):
    settings = clients.settings(tmp_path, tmp_path / "driver/libcuda.so.1", {})
    assembler, source, output = settings["TRITON_PTXAS_PATH"], tmp_path / "a.ptx", tmp_path / "a.cubin"
    assert settings["TRITON_LIBCUDA_PATH"] == str(tmp_path / "driver")
    source.write_text(".version 8.7\n")
    subprocess.run([assembler, "-lineinfo", "-v", "--gpu-name=sm_80", source, "-o", output], check=True)
    assert output.read_text() == ".version 8.7\n"
    version = subprocess.run([assembler, "--version"], capture_output=True, text=True, check=True).stdout
    assert "release 13.0, V13.0.88" in version
    result = subprocess.run([assembler, "a.cubin"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, "ptxas of kernkit: expected FILE.ptx -o FILE\n")


def test_the_launcher_of_nvcc_replaces_machine_code_by_ptx(tmp_path):
    settings = clients.settings(tmp_path, tmp_path / "driver/libcuda.so.1", {"FLASHINFER_NVCC_LAUNCHER": "env A=1"})
    command = f"{settings['FLASHINFER_NVCC_LAUNCHER']} sh -c 'echo $A; printf \"%s\\n\" \"$@\"' nvcc"
    given = "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_80,code=compute_80 '-DA=\"b c\"'"
    result = subprocess.run(["sh", "-c", f"{command} {given}"], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["1", "-gencode=arch=compute_80,code=compute_80", "-gencode=arch=compute_90a,code=compute_90a",
                                          "-gencode=arch=compute_80,code=compute_80", '-DA="b c"']  # fmt: skip


def test_a_gpu_of_the_machine_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "GPUS", tmp_path / "gpus")
    program.report_gpu()
    (tmp_path / "gpus").mkdir()
    program.report_gpu()
    assert capsys.readouterr().err == ""
    (tmp_path / "gpus/0000:17:00.0").mkdir()
    program.report_gpu()
    assert capsys.readouterr().err == (
        "kernkit: the program runs on the CPU, although this machine has a GPU; run the program without kernkit to use the GPU\n"
    )


def test_compilers_work_in_a_run(root, driver, tmp_path):
    """A compiler that a program starts writes the same output as without `kernkit run`, although libraries are
    preloaded."""
    (tmp_path / "one.cc").write_text("int one() { return 1; }\n")
    command = ["g++", "-c", "-o", "-", "one.cc", "-S"]
    expected = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    result = run_python(root, driver.parent.parent, "-c", f"import subprocess; subprocess.run({command}, check=True)", cwd=tmp_path)
    assert (result.stdout, result.stderr) == (expected, "")


LINKER = """
import ctypes

linker = ctypes.CDLL("libnvJitLink.so.13")
handle, size, options = ctypes.c_void_p(), ctypes.c_size_t(), (ctypes.c_char_p * 1)(b"-arch=sm_80")
HEAD, PTX, LTO_IR = b".version 8.0\\n.target sm_80\\n.address_size 64\\n", 2, 3


def text(name):
    assert getattr(linker, f"nvJitLinkGet{name}Size")(handle, ctypes.byref(size)) == 0
    found = ctypes.create_string_buffer(size.value)
    assert getattr(linker, f"nvJitLinkGet{name}")(handle, found) == 0
    return found.value.decode()


print(linker.nvJitLinkCreate(ctypes.byref(handle), 0, None), linker.nvJitLinkCreate(ctypes.byref(handle), 1, options))
print(linker.nvJitLinkComplete(handle), text("ErrorLog").strip())
for kind, data in ((PTX, HEAD + b".visible .func f { ret; }"), (LTO_IR, b"BC"),
                   (PTX, HEAD + b".extern .func f;\\n.entry k() { call f; ret; }")):
    print(linker.__getattr__("__nvJitLinkAddData_13_0")(handle, kind, data, ctypes.c_size_t(len(data)), b"code"))
print(linker.nvJitLinkComplete(handle), text("ErrorLog").splitlines()[1])
joined = text("LinkedCubin")
assert text("LinkedPtx") == joined and text("InfoLog") == ""
print([joined.count(word) for word in (".version", ".func f", ".entry k", ".extern")])
print(linker.nvJitLinkDestroy(ctypes.byref(handle)), handle.value)
"""


def test_the_linker_of_device_code_joins_ptx(root, driver):
    """The simulator's nvJitLink functions link PTX and reject other input. The first number of each printed line is an
    nvJitLinkResult of NVIDIA's nvJitLink.h."""
    result = run_python(root, driver.parent.parent, "-c", LINKER)
    message = "code is not PTX, and other types of input are not supported: compile the code to PTX, without link-time optimisation"
    assert result.stderr == f"kernkit: libnvJitLink.so.13: {message}\n"
    assert result.stdout.splitlines() == [
        "2 0",
        "9 kernkit: no input to link; add PTX text",
        "0", "12", "0",
        f"0 kernkit: {message}",
        "[1, 1, 1, 0]",
        "0 None",
    ]  # fmt: skip


TRITON = '''
import ctypes
import triton
import triton.language as tl

driver = ctypes.CDLL("libcuda.so.1")


class Floats:
    """What Triton needs of a tensor, in memory of the device that the host may access."""

    dtype = tl.float32

    def __init__(self, values):
        context, address = ctypes.c_void_p(), ctypes.c_uint64()
        assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert driver.cuCtxSetCurrent(context) == 0
        assert driver.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(4 * len(values)), 1) == 0
        self.address, self.values = address.value, (ctypes.c_float * len(values)).from_address(address.value)
        self.values[:] = values

    def data_ptr(self):
        return self.address


@triton.jit
def scale(x, n, factor, SIZE: tl.constexpr, LIMIT: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(x + i, tl.load(x + i, mask=i < n) * factor, mask=i < LIMIT)


x = Floats(range(200))
scale[(2,)](x, 200, 2.5, SIZE=128, LIMIT=200)
print(driver.cuCtxSynchronize(), x.values[:] == [2.5 * i for i in range(200)])
scale[(2,)](x, 200, 2.5, SIZE=128, LIMIT=256)
print(driver.cuCtxSynchronize())
'''


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")
def test_a_kernel_of_triton_runs_and_a_fault_has_its_line(root, driver, tmp_path):
    program = tmp_path / "scale.py"
    program.write_text(TRITON)
    result = run_python(root, driver.parent.parent, program, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert result.stdout == "0 True\n700\n", result.stderr
    line = next(number for number, text in enumerate(TRITON.splitlines(), 1) if "tl.store" in text)
    assert "Invalid __global__ write of size 4 bytes" in result.stderr and f"(scale.py:{line})" in result.stderr
    assert len(list((tmp_path / "cache/kernkit/clients/caches/triton").iterdir())) > 0
