# SPDX-License-Identifier: Apache-2.0
"""The examples of the documentation compile against what they are written for."""

import pathlib
import shutil
import subprocess
import sys

import pytest

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def include_of(header):
    """The include folder with this header: of a CUDA toolkit or of one of NVIDIA's wheels."""
    nvcc = shutil.which("nvcc")
    toolkit = [pathlib.Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    wheels = pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/include")
    return next((folder for folder in (*toolkit, *wheels) if (folder / header).exists()), None)


def test_nvshmem_allocator(root, dlpack_include):
    folders = [include_of(header) for header in ("nvshmem_host.h", "cuda_runtime_api.h")]
    for folder, wheel in zip(folders, ("nvidia-nvshmem-cu13", "nvidia-cuda-runtime")):
        if folder is None:
            pytest.skip(f"the headers of {wheel} are not installed")
    command = ["c++", "-std=c++17", *WARNINGS, "-fsyntax-only", "-I", root / "sdk/include"]
    for folder in (*folders, dlpack_include):
        command += ["-isystem", folder]
    subprocess.run([*command, root / "docs/examples/nvshmem_allocator.cc"], check=True)


def test_row_sum(root, dlpack_include, tmp_path):
    if not shutil.which("nvcc"):
        pytest.skip("no CUDA compiler")
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler=-Wall,-Wextra"]
    command += ["-DKERNKIT_WITH_CUDA", "-DKERNKIT_COMPILED"]
    command += ["-I", root / "sdk/include", "-isystem", dlpack_include, "-c", "-o", tmp_path / "o"]
    subprocess.run([*command, root / "docs/examples/row_sum.cu"], check=True)
