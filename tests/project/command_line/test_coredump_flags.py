# SPDX-License-Identifier: Apache-2.0
"""The error message of a failed CUDA call suggests the coredump flags that cuda.h combines in
CU_COREDUMP_LIGHTWEIGHT_FLAGS."""

import re

import pytest
from cuda_tools import include_of


def test_the_message_names_the_lightweight_flags(root):
    folder = include_of("cuda.h")
    if folder is None:
        pytest.skip("cuda.h is not installed (a CUDA toolkit, or the wheel nvidia-cuda-runtime)")
    value = re.search(r"CU_COREDUMP_LIGHTWEIGHT_FLAGS\s*=([^,}]*)", (folder / "cuda.h").read_text(errors="replace"))[1]
    flags = [name.lower() for name in re.findall(r"CU_COREDUMP_(\w+)", value)]
    message = re.sub(r'"\s*"', "", (root / "sdk/include/kernkit/cuda/impl/check.h").read_text())
    assert re.search(r"CUDA_COREDUMP_GENERATION_FLAGS=([\w,]+)", message)[1].split(",") == flags and len(flags) > 3
