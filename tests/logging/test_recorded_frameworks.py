# SPDX-License-Identifier: Apache-2.0
"""Calls from NumPy, PyTorch and JAX are recorded in the same way, and each recorded call is repeated."""

import called
import numpy as np
import pytest
from kernkit import cli
from kernkit.calls import recording

NUMPY = "kernels.scale(y, x, 2.0)"
TORCH = "import torch; kernels.scale(torch.zeros(2, 3), torch.from_numpy(x), 2.0)"
JAX = """
import jax
target = ctypes.CDLL(path).kernkit_xla_cpu_scale
jax.ffi.register_ffi_target("scale", jax.ffi.pycapsule(target), platform="cpu")
call = jax.ffi.ffi_call("scale", jax.ShapeDtypeStruct((2, 3), "float32"))
print(np.asarray(jax.jit(lambda a: call(a, factor=2.0))(x)).sum())
"""


@pytest.mark.all
@pytest.mark.parametrize("framework, code", [("numpy", NUMPY), ("torch", TORCH), ("jax", JAX)])
def test_calls_of_frameworks_are_recorded_and_repeated(library, tmp_path, capfd, framework, code):
    pytest.importorskip(framework)
    folder = tmp_path / "calls"
    called.run(f"path = {str(library)!r}; kernels = tvm_ffi.load_module(path)\n" + code, uses_torch=framework == "torch", KERNKIT_RECORD=str(folder))
    (path,) = folder.iterdir()
    call = recording.read(path)
    x = np.arange(6, dtype="float32")
    assert call.op == "scale" and list(call.results.written.values()) == [(2 * x).tobytes()]
    assert cli.main(["replay", str(path), "--library", str(library)]) == 0
    assert "scale: equal: y" in capfd.readouterr().out
