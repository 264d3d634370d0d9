# SPDX-License-Identifier: Apache-2.0
"""`kernkit replay --on-cpu` repeats a call with CUDA tensors without a GPU, also under the tools of `kernkit sanitize`."""

import os
import subprocess
import sys

import called
import pytest
from kernkit.calls import recording

# Calls shift(y, x), whose fault is in shift.cu, with tensors on the device.
CALL = """
import ctypes, sys
from kernkit.calls import device, replay
driver = device.Driver()
x = device.DeviceMemory(driver, 0, 0, 512, bytes(range(128)) * 4)
y = device.DeviceMemory(driver, 0, 0, 512, None)
shape = (ctypes.c_int64 * 1)(128)
args, result, keep = (replay._Any * 2)(), replay._Any(), []
for arg, memory in zip(args, (y, x)):
    keep.append(replay._DLTensor(memory.base, (2, 0), 1, 2, 32, 1, ctypes.addressof(shape), None, 0))
    arg.type_index, arg.v.ptr = 7, ctypes.addressof(keep[-1])
library = ctypes.CDLL(sys.argv[1])
library.__tvm_ffi_shift(None, args, 2, ctypes.byref(result))
"""


@pytest.fixture(scope="module")
def runtime(root):
    path = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not path.exists():
        pytest.skip("no CUDA compiler, which compiles the kernel")
    return path


def kernkit(root, *arguments, **settings):
    environment = {**os.environ, "PYTHONPATH": str(root / "sdk/python"), **settings}
    return subprocess.run([sys.executable, "-m", "kernkit", *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.all
def test_a_recorded_fault_of_a_kernel_is_found_at_its_line(root, runtime, tmp_path):
    library, folder = called.library("called_cuda_ops"), tmp_path / "calls"
    made = kernkit(root, "run", "--runtime", runtime, sys.executable, "-c", CALL, library, KERNKIT_RECORD=str(folder))
    line = 1 + (root / "tests/logging/shift.cu").read_text().split("  // the last thread reads past the end")[0].count("\n")
    sentence = f"Invalid __global__ read of size 4 bytes, 0 bytes after an allocation of 512 bytes (shift.cu:{line})"
    assert made.returncode == 0 and sentence in made.stderr, made.stderr
    (path,) = folder.iterdir()
    call = recording.read(path)
    assert [storage.content for storage in call.storages if storage.content != bytes(512)] == [bytes(range(128)) * 4]
    replay = ("replay", path, "--library", library, "--runtime", runtime)
    for option in (["--on-cpu"], ["--tool", "memcheck"]):
        found = kernkit(root, *replay, *option)
        assert found.returncode == 1 and sentence in found.stdout + found.stderr, found.stderr
        ending = 'this call with the error "CUDA: cuCtxSynchronize() failed: CUDA_ERROR_ILLEGAL_ADDRESS"'
        assert f"shift: the recorded call ended with no error, {ending}" in found.stdout
    without_gpu = kernkit(root, *replay[:-2])
    assert without_gpu.returncode == 3 and ("add --on-cpu to repeat the call without a GPU" in without_gpu.stderr or "cuInit" in without_gpu.stderr)
