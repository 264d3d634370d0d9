# SPDX-License-Identifier: Apache-2.0
"""Python's tests of a library on PyTorch's device "cuda", without a GPU."""

import ctypes
import importlib.util
import pathlib
from typing import List

from ..binaries.identity import has_cuda
from ..project.record import read_record
from .tools import KERNKIT, PYTHON, ROOT, has_module, library_name


def has_gpu() -> bool:
    """Whether the machine has a GPU and NVIDIA's driver."""
    try:
        return bool(ctypes.CDLL("libcuda.so.1").cuInit(0) == 0)
    except OSError:
        return False


def library() -> pathlib.Path:
    """The library that ./kk builds."""
    return ROOT / f"build/release/lib/lib{library_name()}.so"


def is_wanted() -> bool:
    """Whether pytest runs by `kernkit run` if the library has CUDA kernels: the library has the component torch_tests, PyTorch
    is installed, and there is no GPU."""
    return (
        "torch_tests" in read_record(ROOT).answers.get("parts", "").split(",")
        and importlib.util.find_spec("kernkit.commands.run") is not None  # of the component ptx
        and not has_gpu()
        and has_module("torch")
    )


def pytest() -> List[str]:
    """The command that runs pytest for the built library, with or without the simulator."""
    command = [PYTHON, "-m", "pytest"]
    return [*KERNKIT, "run", *command, "-p", "kernkit"] if is_wanted() and has_cuda(library()) else command
