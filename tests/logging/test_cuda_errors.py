# SPDX-License-Identifier: Apache-2.0
"""The error of a kernel names the last calls and the next setting to try. With KERNKIT_SYNC=1, the error names the op
that launched the kernel."""

import os
import subprocess
import sys

import called
import pytest

# shift(n) calls the op of shift.cu, which launches a kernel by <<<>>>. The kernel's fault occurs with n = 128.
PROGRAM = """
import ctypes, sys
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]
class Value(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("f", ctypes.c_double), ("p", ctypes.c_void_p), ("t", ctypes.c_char_p),
                ("dtype", ctypes.c_uint8 * 4), ("device", ctypes.c_int32 * 2)]
class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small", ctypes.c_uint32), ("v", Value)]
library, cuda = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcudart.so.13")
library.kernkit_last_error.restype = ctypes.c_char_p
x, y = ctypes.c_void_p(), ctypes.c_void_p()
for address in (x, y): assert cuda.cudaMalloc(ctypes.byref(address), 512) == 0
def tensor(address, *shape, kind=2, index=0, bits=32):
    keep = Tensor(address, (kind, index), len(shape), 2, bits, 1, (ctypes.c_int64 * len(shape))(*shape), None, 0)
    return 7, Value(p=ctypes.addressof(keep)), keep
def call(name, *arguments):
    args, result = (Any * len(arguments))(), Any()
    for arg, value in zip(args, arguments): arg.type_index, arg.v = value[:2]
    failed = library["__tvm_ffi_" + name](None, args, len(arguments), ctypes.byref(result))
    print(library.kernkit_last_error().decode() if failed else "ok", flush=True)
def shift(n): call("shift", tensor(y, n), tensor(x, n))
"""
FAILED = "cudaErrorIllegalAddress: an illegal memory access was encountered"
EARLIER = "; it comes from earlier work on the device, not from this call"
LOST = "; the CUDA context is lost: restart the process"
SYNC = "; to find the launch, set KERNKIT_SYNC=1"
TRACE = "; to find the earlier calls, set KERNKIT_TRACE=FILE"
DUMP = ("; to find the kernel's line by cuda-gdb, set CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 and CUDA_COREDUMP_GENERATION_FLAGS="
        "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,skip_constbank_memory")  # fmt: skip
CHECKED = f"RuntimeError: shift(): cudaGetLastError() failed: {FAILED}{EARLIER}{LOST}"


@pytest.fixture(scope="module")
def lines(root):
    """Returns a function that runs code after PROGRAM in the simulator and returns the printed lines."""
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"
    if not runtime.exists():
        pytest.skip("no CUDA compiler, which compiles the kernel")

    def run(code, **settings):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("KERNKIT_", "CUDA_"))}
        environment = {**inherited, "PYTHONPATH": str(root / "sdk/python"), **settings}
        command = [sys.executable, "-m", "kernkit", "run", "--runtime", runtime, sys.executable, "-c", PROGRAM + code,
                   called.library("called_cuda_ops")]  # fmt: skip
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result.stderr
        return result.stdout.splitlines()

    return run


def shift(number, n):
    return f"#{number} shift(y=float32[{n}] cuda:0, x=float32[{n}] cuda:0)"


def earlier(*calls):
    return "; earlier calls, the last one first: " + ", ".join(calls)


CALLS = "for n in (125, 126, 127, 128, 127, 126): shift(n)"


@pytest.mark.all
def test_without_a_setting_the_error_names_the_settings(lines):
    assert lines(CALLS) == ["ok"] * 4 + [CHECKED + SYNC + TRACE] * 2


@pytest.mark.all
@pytest.mark.parametrize("variable", ["KERNKIT_TRACE", "KERNKIT_LOG", "KERNKIT_RECORD"])
def test_the_error_names_the_last_three_calls(lines, tmp_path, variable):
    settings = {variable: "args,-*" if variable == "KERNKIT_LOG" else str(tmp_path / "file")}
    first = earlier(shift(4, 128), shift(3, 127), shift(2, 126))
    second = earlier(shift(5, 127) + " failed", shift(4, 128), shift(3, 127))
    assert lines(CALLS, **settings) == ["ok"] * 4 + [CHECKED + first + SYNC, CHECKED + second + SYNC]


@pytest.mark.all
def test_with_sync_the_error_names_the_op_and_the_next_setting(lines):
    """With KERNKIT_SYNC=1 a call waits for the op's work before the call returns, so the error names the call whose
    kernel failed, also if the op launches its kernel by <<<>>>."""
    text = f"RuntimeError: shift(): KERNKIT_SYNC: the work of {shift(4, 128)[3:]} failed: {FAILED}{LOST}"
    calls = earlier(shift(3, 127), shift(2, 126), shift(1, 125))
    assert lines("for n in (125, 126, 127, 128): shift(n)", KERNKIT_SYNC="1") == ["ok"] * 3 + [text + calls + DUMP]
    dumped = lines("shift(128)", KERNKIT_SYNC="1", CUDA_ENABLE_COREDUMP_ON_EXCEPTION="1")
    assert dumped == [text.replace("#4", "#1") + "; no earlier call"]


@pytest.mark.all
def test_the_last_calls_have_every_type_of_argument(lines):
    code = """
import threading
shift(128)
one = ctypes.c_float()
values = [(3, Value(f=0.5)), (1, Value(i=-3)), (2, Value(i=1)), (8, Value(t=b"a\\n" + b"b" * 40)), (5, Value(dtype=(2, 16, 1, 0))),
          (6, Value(device=(2, 1)))]
call("pass", tensor(None, 2, 2**40, 0, kind=1), *values, (0, Value()))
thread = threading.Thread(target=lambda: call("pass", tensor(ctypes.addressof(one), kind=1, bits=64), *values, (3, Value(f=2))))
thread.start(); thread.join()
shift(127)
"""
    last = lines(code, KERNKIT_LOG="names", KERNKIT_LOG_FILE="/dev/null")[-1]
    values = 'f=0.5, i=-3, b=true, s="a\\x0a' + "b" * 30 + '...", dtype=float16, device=cuda:1'
    shapes = ("float64[] cpu", "float32[2, 1099511627776, 0] cpu")
    calls = earlier(f"#3 pass(x={shapes[0]}, {values}, maybe=2.0)", f"#2 pass(x={shapes[1]}, {values}, maybe=None)", shift(1, 128))
    assert last == CHECKED + calls + SYNC
