# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges: an attached tool receives a range for each call, with the op's name and arguments."""

import subprocess

import called
import pytest

CALLS = """
cuda = load("called_cuda_ops")
one = np.ones(3, "float32")
def call(): cuda["pass"](one, 0.5, 1, True, "s", np.dtype("int8"), tvm_ffi.device("cpu", 0), None)
call()
try: cuda.shift(one, one)
except Exception: print("error", flush=True)
"""
VALUES = 'f=0.5, i=1, b=true, s="s", dtype=int8, device=cpu, maybe=None'
ONE = "float32[3] cpu"


def libraries():
    """Returns the paths of the NVTX tool and of the library. Skips the test if they are not built, for example without
    NVTX's header."""
    return called.library("nvtx_tool"), called.library("called_cuda_ops")


def test_a_tool_gets_a_range_for_each_call():
    tool, library = libraries()
    result = called.run(CALLS, NVTX_INJECTION64_PATH=str(tool))
    ranges = [f"push pass(x={ONE}, {VALUES})", "pop", f"push shift(y={ONE}, x={ONE})", "pop"]
    assert result.stdout.splitlines() == [f"domain {library.name}", *ranges, "error"]
    assert result.stderr == ""


@pytest.mark.all
def test_without_a_tool_there_are_no_ranges_and_a_missing_tool_changes_nothing(tmp_path):
    libraries()
    assert called.run(CALLS).stdout == "error\n"
    assert called.run(CALLS, NVTX_INJECTION64_PATH=str(tmp_path / "missing.so")).stdout == "error\n"


@pytest.mark.all
def test_ranges_and_the_log_are_independent():
    tool, _ = libraries()
    result = called.run(CALLS.replace("call()\n", "call()\n" * 2), NVTX_INJECTION64_PATH=str(tool), KERNKIT_LOG="names")
    assert result.stdout.count("push pass(") == result.stdout.count("pop") - 1 == 2
    assert result.stderr.count("pass tid") == 2


def test_nothing_is_linked_for_the_ranges():
    _, library = libraries()
    needed = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    assert "NEEDED" in needed and "nvtx" not in needed.lower() and "nvToolsExt" not in needed
    symbols = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    assert "__tvm_ffi_shift" in symbols and "nvtx" not in symbols
