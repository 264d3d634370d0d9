# SPDX-License-Identifier: Apache-2.0
"""Tools of the CUDA toolkit, for tests that inspect nvcc's output; a test without these tools is skipped."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

import pytest
from commands import build_target


def tool(name):
    """Returns the path of a tool of the CUDA toolkit: from PATH, from the toolkit, or from the wheel of the tool or of
    triton."""
    packages = pathlib.Path(sys.prefix).glob("lib/python*/site-packages")
    wheels = (f"nvidia/cu13/bin/{name}", f"triton/backends/nvidia/bin/{name}")
    candidates = [package / wheel for package in packages for wheel in wheels]
    for candidate in (shutil.which(name), f"/usr/local/cuda/bin/{name}", *candidates):
        if candidate and pathlib.Path(candidate).exists():
            return pathlib.Path(candidate)
    return None


def build(root, target):
    """Builds a target that requires nvcc in the folder of `./kk build`; see build_target()."""
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not installed")
    return build_target(root, target)


def include_of(header):
    """Returns the include folder of the CUDA toolkit or of one of NVIDIA's wheels that contains this header, or
    None."""
    nvcc = shutil.which("nvcc")
    toolkit = [pathlib.Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    wheels = pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/*/include")
    return next((folder for folder in (*toolkit, *wheels) if (folder / header).exists()), None)


def cuobjdump(library, *options):
    if b".nv_fatbin" not in library.read_bytes():
        pytest.skip("the library was built without CUDA")
    if tool("cuobjdump") is None:
        pytest.skip("cuobjdump is not installed (wheel nvidia-cuda-cuobjdump)")
    path = os.environ["PATH"]
    if disassembler := tool("nvdisasm"):
        path = f"{disassembler.parent}:{path}"
    elif "-sass" in options:
        pytest.skip("nvdisasm is not installed (wheel nvidia-cuda-nvdisasm)")
    command = [tool("cuobjdump"), *options, str(library)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PATH": path}
    )
    return result.stdout


def fatbin(*entries, name="code", magic=0xBA55ED50):
    """Returns C++ source of a fat binary without code, in the section that a macro IN names. entries: (1 for PTX or 2
    for SASS, architecture, flags)."""
    body = b"".join(
        struct.pack("<HHIQ12xI8xQ16x", kind, 0x101, 64, 8, architecture, flags) + b"\1" * 8
        for kind, architecture, flags in entries
    )
    content = struct.pack("<IHHQ", magic, 1, 16, len(body)) + body
    listed = ",".join(map(str, content))
    return f'\nIN(".nv_fatbin") static const unsigned char {name}[] = {{{listed}}};'
