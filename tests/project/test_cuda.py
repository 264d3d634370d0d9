# SPDX-License-Identifier: Apache-2.0
"""The CUDA code in the built library, read from its file; nothing runs on a GPU."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest


def cuobjdump():
    wheel = pathlib.Path(sys.prefix).glob("lib/python*/site-packages/nvidia/cu13/bin/cuobjdump")
    for candidate in (shutil.which("cuobjdump"), "/usr/local/cuda/bin/cuobjdump", *wheel):
        if candidate and pathlib.Path(candidate).exists():
            return candidate
    return None


@pytest.fixture(scope="module")
def listing(library):
    if b".nv_fatbin" not in library.read_bytes():
        pytest.skip("the library was built without CUDA")
    if cuobjdump() is None:
        pytest.skip("cuobjdump is not installed (wheel nvidia-cuda-cuobjdump)")
    command = [cuobjdump(), "--list-elf", "--list-ptx", str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_architectures(listing):
    assert set(re.findall(r"sm_\d+\.cubin", listing)) == {
        f"sm_{arch}.cubin" for arch in (80, 90, 100, 120)
    }
    assert {"sm_80.ptx", "sm_120.ptx"} <= set(re.findall(r"sm_\d+\.ptx", listing))
