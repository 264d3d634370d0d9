# SPDX-License-Identifier: Apache-2.0
"""A fixture that runs programs of Triton, Numba, cuda.core, CuPy and PyTorch without a GPU."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent
PACKAGES = {"triton": "triton", "numba": "numba-cuda", "core": "cuda-core", "cupy": "cupy-cuda13x", "torch": "torch"}


@pytest.fixture(scope="session")
def run_client(root):
    """Returns run_client(command, client, *arguments, **variables), which runs `kernkit COMMAND ... python ARGUMENTS` with
    these environment variables and returns the finished process. Skips the test if the client is not installed."""
    runtime = root / "build/release/kernkit_cudart/libcudart.so.13"

    def run(command, client, *arguments, **variables):
        if not (runtime.parent / "driver/libcuda.so.1").exists():
            pytest.skip("no libcuda.so.1 in the build")
        try:
            importlib.metadata.distribution(PACKAGES[client])
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{PACKAGES[client]} is not installed: ./kk test --with {'torch' if client == 'torch' else 'clients'}")
        if client == "torch" and not any(text.startswith("triton") for text in importlib.metadata.requires("torch")):
            pytest.skip("the installed torch is a build without CUDA: install the package of PyPI")
        environment = {"KK_ROOT": str(root), **os.environ, "PYTHONPATH": str(root / "sdk/python"), **variables}
        arguments = ["--runtime", runtime, sys.executable, "-B", *arguments]
        return subprocess.run([sys.executable, "-B", "-m", "kernkit", *command, *arguments], cwd=FOLDER, env=environment,
                              capture_output=True, text=True)  # fmt: skip

    return run
