# SPDX-License-Identifier: Apache-2.0
"""Runs Python code that calls the ops of tests/logging, in a new process with given environment variables, such as
KERNKIT_LOG for the logging hook."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOOK = ("KERNKIT_LOG", "KERNKIT_TRACE", "KERNKIT_RECORD")
PREAMBLE = """
import ctypes, os, signal, sys, threading
import numpy as np
{without_torch}
import tvm_ffi
def load(name):
    return tvm_ffi.load_module(os.path.join({folder!r}, f"lib{{name}}.so"))
ops = load("called_ops")
tensor = tvm_ffi.from_dlpack
x = np.arange(6, dtype="float32").reshape(2, 3)
y = np.zeros((2, 3), "float32")
"""


# tvm_ffi imports PyTorch if it is installed, which takes two seconds.
WITHOUT_TORCH = "sys.modules['torch'] = None"


def library(name: str = "called_ops") -> pathlib.Path:
    path = ROOT / f"build/release/lib/lib{name}.so"
    if not path.exists():
        pytest.skip(f"{path} is missing; run ./kk build")
    return path


def preamble(uses_torch: bool = False) -> str:
    """Returns the first lines of the code of a process. If `uses_torch` is false, `import torch` fails in the
    process."""
    return PREAMBLE.format(folder=str(library().parent), without_torch="" if uses_torch else WITHOUT_TORCH)


def run(code: str, code_of_exit: int = 0, uses_torch: bool = False, **settings: str) -> subprocess.CompletedProcess:
    """Runs preamble() and `code` in a new process, with the environment variables `settings`. Asserts that the exit code is
    `code_of_exit`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(HOOK)}
    result = subprocess.run([sys.executable, "-c", preamble(uses_torch) + code], env={**environment, **settings},
                            capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert result.returncode == code_of_exit, result.stderr
    return result
