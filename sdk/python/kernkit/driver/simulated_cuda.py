# SPDX-License-Identifier: Apache-2.0
"""Selects how pytest runs a library's tests on PyTorch's device "cuda": on a GPU, or under `kernkit run`."""

import ctypes
import importlib.util
import pathlib
from typing import List

from ..binaries.identity import has_cuda
from ..project.record import RECORD, read_record
from .tools import KERNKIT, PYTHON, ROOT, has_module, library_name


def has_gpu() -> bool:
    """Returns whether NVIDIA's driver is installed and finds a GPU."""
    try:
        return bool(ctypes.CDLL("libcuda.so.1").cuInit(0) == 0)
    except OSError:
        return False


def library() -> pathlib.Path:
    """Returns the path of the library that ./kk builds."""
    return ROOT / f"build/release/lib/lib{library_name()}.so"


def is_wanted() -> bool:
    """Returns whether the tests of a library with CUDA kernels run under `kernkit run`: the library has the component
    torch_tests, this kernkit includes the command run, PyTorch is installed, and no GPU is found."""
    return (
        (ROOT / RECORD).is_file()
        and "torch_tests" in read_record(ROOT).answers.get("parts", "").split(",")
        and importlib.util.find_spec("kernkit.commands.run") is not None  # a module of the component ptx
        and not has_gpu()
        and has_module("torch")
    )


def pytest() -> List[str]:
    """Returns the command that runs pytest for the built library: under `kernkit run` if is_wanted() and the library
    has CUDA kernels, otherwise directly."""
    command = [PYTHON, "-m", "pytest"]
    return [*KERNKIT, "run", *command, "-p", "kernkit"] if is_wanted() and has_cuda(library()) else command
