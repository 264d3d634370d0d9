# SPDX-License-Identifier: Apache-2.0
"""Runs of programs of Triton, Numba, cuda.core and CuPy without a GPU."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent
PACKAGES = {"triton": "triton", "numba": "numba-cuda", "core": "cuda-core", "cupy": "cupy-cuda13x"}


@pytest.fixture(scope="session")
def run_client(root):
    """run_client(command, client, *arguments): the process of `kernkit COMMAND ... python ARGUMENTS`. Skips a test whose client
    is not installed."""
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"

    def run(command, client, *arguments):
        if not (runtime.parent / "driver/libcuda.so.1").exists():
            pytest.skip("no libcuda.so.1 in the build")
        try:
            importlib.metadata.distribution(PACKAGES[client])
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{PACKAGES[client]} is not installed: ./kk test --with clients")
        environment = {"KK_ROOT": str(root), **os.environ, "PYTHONPATH": str(root / "sdk/python")}
        arguments = ["--runtime", runtime, sys.executable, "-B", *arguments]
        return subprocess.run([sys.executable, "-B", "-m", "kernkit", *command, *arguments], cwd=FOLDER, env=environment,
                              capture_output=True, text=True)  # fmt: skip

    return run
