# SPDX-License-Identifier: Apache-2.0
"""Tests that call each op from PyTorch, CuPy and JAX, with the examples of its contract test, on a stream other than
the default stream. `kernkit gpu frameworks` runs this file."""

import json
import os
import pathlib

import pytest
from kernkit.on_gpu import frameworks

NOTED = pathlib.Path(os.environ.get("KERNKIT_EXAMPLES", os.devnull)).read_text().splitlines()


@pytest.fixture(scope="module")
def ops():
    import tvm_ffi

    return tvm_ffi.load_module(os.environ["LIBRARY"])


@pytest.mark.parametrize("line", NOTED, ids=lambda line: json.loads(line)["op"])
@pytest.mark.parametrize("framework", [frameworks.Torch, frameworks.CuPy, frameworks.Jax])
def test_on_a_side_stream(ops, framework, line):
    example = json.loads(line)
    frameworks.check_on_a_side_stream(framework(), getattr(ops, example["op"]), example)
