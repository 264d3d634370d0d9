# SPDX-License-Identifier: Apache-2.0
"""Downloads files that other projects have published. None of these files is in this repository."""

import subprocess
import sys

import pytest

FEATURES = ("F16", "BF16", "FP8_E4M3", "FP8_E5M2", "FP8_E8M0", "FP4_E2M1")


def download(folder, expected, *options):
    """Downloads the file of a distribution, "name==version", without its dependencies, and returns its path. Skips the
    test if the file is not available."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, *options, expected]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip(f"{expected} cannot be downloaded")
    (path,) = folder.iterdir()
    return path


def install(folder, expected):
    """Installs a distribution without its dependencies into the folder, and returns the folder. Skips the test if the
    distribution is not available."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", "--target", folder, expected]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip(f"{expected} cannot be installed")
    return folder


def flashinfer_folders(csrc):
    """Returns FlashInfer's include folders."""
    data, internal = csrc.parent, csrc / "nv_internal"
    folders = [data / "include", csrc, data / "cutlass/include", data / "cutlass/tools/util/include"]
    folders += [data / "spdlog/include", internal, internal / "include"]
    folders += [data / "cccl" / name for name in ("libcudacxx/include", "cub", "thrust")]
    return [*folders, internal / "tensorrt_llm/cutlass_extensions/include"]


def flashinfer_command(csrc, flags, file, output, architecture="arch=compute_90a,code=sm_90a"):
    """Returns nvcc's command line for a file of FlashInfer, with the options of FlashInfer's own build."""
    command = ["nvcc", "-std=c++17", "-O3", f"-gencode={architecture}", "-DNDEBUG", "--expt-relaxed-constexpr"]
    command += [f"-DFLASHINFER_ENABLE_{feature}" for feature in FEATURES]
    command += [f"-DENABLE_{feature}" for feature in ("BF16", "FP8", "FP4")] + flags
    for folder in flashinfer_folders(csrc):
        command += ["-I", folder]
    return [*command, "-x", "cu", "-c", file, "-o", output]
