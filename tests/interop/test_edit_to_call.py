# SPDX-License-Identifier: Apache-2.0
"""Tests that the commands, the edit and the CUDA file of the page "From edit to call in a second" work."""

import os
import re
import runpy
import shutil

import numpy as np
import pytest

EXAMPLE = "docs/examples/edit_to_call.py"


@pytest.fixture
def page(root, tmp_path, monkeypatch, capsys):
    """Runs the page's Python file with an empty cache and returns its global names."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("TVM_FFI_CACHE_DIR", str(tmp_path / "cache"))
    functions = runpy.run_path(EXAMPLE)
    expected = re.search(r"print\(y\)  # (.*)", (root / EXAMPLE).read_text())[1]
    assert capsys.readouterr().out == expected + "\n"
    return functions


def test_an_edit_is_in_the_next_load_and_the_old_module_stays(root, tmp_path, page):
    file = tmp_path / "leaky_relu.cc"
    text = (root / "docs/examples/leaky_relu.cc").read_text()
    file.write_text(text.replace("s * v", "2 * s * v"))
    new = page["load"](file)
    x = np.array([-1, 1], "float32")
    for lib, expected in ((page["lib"], [-0.5, 1]), (new, [-1, 1]), (page["lib"], [-0.5, 1])):
        y = np.full(2, 77, "float32")
        lib.leaky_relu(y, x, 0.5)
        assert y.tolist() == expected
    new.leaky_relu(y, x)  # uses the schema's default slope=0.01
    np.testing.assert_allclose(y, [-0.02, 1])
    with pytest.raises(TypeError, match=r"leaky_relu\(\): y: dtype float64 does not match x \(float32\)"):
        new.leaky_relu(np.zeros(2), x, 0.5)


@pytest.mark.all
def test_cuda(root, page, monkeypatch):
    if not shutil.which("nvcc") and not os.path.exists("/usr/local/cuda/bin/nvcc"):
        pytest.skip("nvcc is not installed")
    if not shutil.which("nvidia-smi"):
        monkeypatch.setenv("TVM_FFI_CUDA_ARCH_LIST", "9.0")
    lib = page["load_cuda"](root / "docs/examples/leaky_relu.cu")
    x = np.array([-1, 1], "float32")
    with pytest.raises(ValueError, match=r"leaky_relu\(\): x: device cpu is not supported; expected cuda"):
        lib.leaky_relu(x.copy(), x, 0.5)
