# SPDX-License-Identifier: Apache-2.0
"""`kernkit replay --on-cpu` repeats a call with CUDA tensors without a GPU, also under the tools of `kernkit sanitize`."""

import json
import os
import signal
import subprocess
import sys

import called
import pytest
from kernkit.bench import measurements
from kernkit.calls import recording, trace

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


LINE = 1 + (called.ROOT / "tests/logging/shift.cu").read_text().split("  // the last thread reads past the end")[0].count("\n")


@pytest.fixture(scope="module")
def recorded(root, runtime, tmp_path_factory):
    """Returns the path of a recording of shift()."""
    folder = tmp_path_factory.mktemp("recorded") / "calls"
    library = called.library("called_cuda_ops")
    made = kernkit(root, "run", "--runtime", runtime, sys.executable, "-c", CALL, library, KERNKIT_RECORD=str(folder))
    assert made.returncode == 0 and sentence(512) in made.stderr, made.stderr
    (path,) = folder.iterdir()
    return path


def sentence(size):
    return f"Invalid __global__ read of size 4 bytes, 0 bytes after an allocation of {size} bytes (shift.cu:{LINE})"


@pytest.mark.all
def test_a_recorded_fault_of_a_kernel_is_found_at_its_line(root, runtime, recorded):
    call = recording.read(recorded)
    assert [storage.content for storage in call.storages if storage.content != bytes(512)] == [bytes(range(128)) * 4]
    replay = ("replay", recorded, "--library", called.library("called_cuda_ops"), "--runtime", runtime)
    for option in (["--on-cpu"], ["--tool", "memcheck"]):
        found = kernkit(root, *replay, *option)
        assert found.returncode == 1 and sentence(512) in found.stdout + found.stderr, found.stderr
        ending = 'this call with the error "CUDA: cuCtxSynchronize() failed: CUDA_ERROR_ILLEGAL_ADDRESS"'
        assert f"shift: the recorded call ended with no error, {ending}" in found.stdout
    without_gpu = kernkit(root, *replay[:-2])
    assert without_gpu.returncode == 3 and ("add --on-cpu to repeat the call without a GPU" in without_gpu.stderr or "cuInit" in without_gpu.stderr)


@pytest.mark.all
@pytest.mark.parametrize("option", [["--on-cpu"], ["--tool", "memcheck,racecheck"]])
def test_a_fault_of_a_kernel_remains_in_a_smaller_call(root, runtime, recorded, tmp_path, option):
    replay = ("--library", called.library("called_cuda_ops"), "--runtime", runtime, *option)
    new = tmp_path / "smaller"
    made = kernkit(root, "replay", recorded, *replay, "--minimize", new)
    assert made.returncode == 0, made.stderr
    assert "; y [128] -> [1], x [128] -> [1]; " in made.stdout and made.stdout.endswith(f"{new} has the call\n")
    assert len(option) == 1 or f"shift: memcheck: shift_kernel: block [0, 0, 0], thread [0, 0, 0]: {sentence(4)}" in made.stdout
    assert {(storage.device, storage.size) for storage in recording.read(new).storages} == {((2, 0), 4)}
    found = kernkit(root, "replay", new, *replay)
    assert found.returncode == 1 and sentence(4) in found.stderr, found.stderr


@pytest.mark.all
def test_an_op_that_reads_its_output_is_found_without_the_recorded_output(root, runtime, tmp_path):
    """The recording contains the values of y before the call. Therefore initcheck reports a read of uninitialised y
    only if --uninitialised y excludes these values from the replay."""
    folder, library = tmp_path / "calls", called.library("called_cuda_ops")
    code = CALL.replace("__tvm_ffi_shift", "__tvm_ffi_total")
    made = kernkit(root, "run", "--runtime", runtime, sys.executable, "-c", code, library, KERNKIT_RECORD=str(folder))
    assert made.returncode == 0, made.stderr
    (path,) = folder.iterdir()
    replay = ("replay", path, "--library", library, "--runtime", runtime, "--tool", "initcheck")
    equal = kernkit(root, *replay)
    assert equal.returncode == 0 and "total: equal: y" in equal.stdout and "0 findings" in equal.stderr, equal.stderr
    found = kernkit(root, *replay, "--uninitialised", "y")
    line = 1 + (root / "tests/logging/shift.cu").read_text().split("  // y is uninitialised")[0].count("\n")
    sentence = f"Uninitialized bits written to byte 0 of 512 bytes of global memory (shift.cu:{line}), read from byte 0 of 512 bytes of global memory"
    assert found.returncode == 1 and sentence in found.stderr, found.stderr


@pytest.mark.all
def test_counters_accept_a_recording(root, runtime, recorded, tmp_path):
    library, report = called.library("called_cuda_ops"), tmp_path / "counters.json"
    made = kernkit(root, "counters", "--runtime", runtime, "--json", report, "--library", library, recorded)
    (kernel,) = json.loads(report.read_text())["kernels"]
    assert made.returncode == 1 and kernel["kernel"] == "shift_kernel" and kernel["launches"] == 1, made.stderr
    without = kernkit(root, "counters", recorded)
    assert (without.returncode, without.stderr) == (3, f"kernkit: {recorded} is a recorded call; add --library LIB.so before the folder\n")
    program = kernkit(root, "counters", "--library", library, sys.executable)
    assert program.returncode == 3 and "is not a recorded call, which is a folder with call.json; leave out --library" in program.stderr


# PyTorch calls ops with tensors of a CUDA device. PyTorch's allocator rounds sizes up, so the fault of shift() reads no
# memory outside of an allocation here.
TORCH = """
import sys, torch, tvm_ffi
x = torch.arange(100., device="cuda")
y, z = torch.zeros(100, device="cuda"), torch.zeros(2, 50, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(torch.cuda.Stream()):
    tvm_ffi.load_module(sys.argv[1]).shift(y, x)
torch.cuda.synchronize()
tvm_ffi.load_module(sys.argv[2]).scale(z, x.reshape(2, 50), 0.1)
print(y[:3].tolist(), z[1, 49].item())
"""


@pytest.mark.all
def test_calls_of_pytorch_with_cuda_tensors_are_repeated(root, runtime, library, tmp_path):
    pytest.importorskip("torch")
    shift, folder = called.library("called_cuda_ops"), tmp_path / "calls"
    made = kernkit(root, "run", "--runtime", runtime, sys.executable, "-c", TORCH, shift, library, KERNKIT_RECORD=str(folder), KERNKIT_LOG="args")
    assert (made.returncode, made.stdout.split("]")[0]) == (0, "[1.0, 2.0, 3.0"), made.stderr
    assert "#1 shift(y=float32[100] cuda:0, x=float32[100] cuda:0) stream 0x" in made.stderr and "Invalid" not in made.stderr
    shifted, scaled = (next(folder.glob(f"{name}-*")) for name in ("shift", "scale"))
    call = recording.read(scaled)
    assert [(a.device, a.shape, a.strides) for a in call.arguments[:2]] == [((2, 0), (2, 50), (50, 1)), ((2, 0), (2, 50), (50, 1))]
    again = kernkit(root, "replay", scaled, "--library", library, "--runtime", runtime, "--on-cpu")
    assert (again.returncode, again.stdout) == (0, "scale: equal: y\n"), again.stderr
    found = kernkit(root, "replay", shifted, "--library", shift, "--runtime", runtime, "--tool", "memcheck")
    assert found.returncode == 1 and sentence(400) in found.stderr, found.stderr
    bench = ("replay", scaled, "--library", library, "--rounds", "1", "--bench", tmp_path / "run.json")
    timed = kernkit(root, "run", "--runtime", runtime, sys.executable, "-m", "kernkit", *bench)
    assert timed.returncode == 0 and "The device is CUDA on the CPU (kernkit), sm_80: the times are not those of a GPU.\n" in timed.stdout, timed.stderr
    measured = measurements.load(tmp_path / "run.json")
    assert [row.name for row in measured.rows] == ["scale/float32/2x50/kernkit/bytes:800", "copy/cuMemcpyDtoD/bytes:800"]
    assert measured.context["device"] == "CUDA on the CPU (kernkit), sm_80" and all(row.samples for row in measured.rows)


@pytest.mark.all
def test_a_fault_of_a_device_leaves_a_trace_and_the_inputs(root, runtime, tmp_path):
    """After an illegal memory access of a kernel, the trace contains the call and the recording contains its inputs,
    even if the process kills itself, as a server may do."""
    crash = CALL + """
import os, signal
if driver.library.cuCtxSynchronize() == 700:  # CUDA_ERROR_ILLEGAL_ADDRESS
    os.kill(os.getpid(), signal.SIGKILL)
"""
    settings = {"KERNKIT_TRACE": str(tmp_path / "trace"), "KERNKIT_RECORD": str(tmp_path / "calls")}
    made = kernkit(root, "run", "--runtime", runtime, sys.executable, "-c", crash, called.library("called_cuda_ops"), **settings)
    assert made.returncode == -signal.SIGKILL, made.stderr
    (traced,) = trace.read(tmp_path / "trace").calls
    assert (traced.op, traced.arguments) == ("shift", "y=float32[128] cuda:0, x=float32[128] cuda:0")
    (path,) = (tmp_path / "calls").iterdir()
    assert bytes(range(128)) * 4 in [storage.content for storage in recording.read(path).storages]
