# SPDX-License-Identifier: Apache-2.0
"""The reference kernels on tensors of other frameworks: ./kk test --with torch,jax."""

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_torch(kernels, dtype):
    torch = pytest.importorskip("torch")
    x = torch.randn(1000).to(getattr(torch, dtype))
    y = torch.empty_like(x)
    kernels.scale(y, x, 0.3)
    wide = torch.float64 if dtype == "float64" else torch.float32
    assert torch.equal(y, (x.to(wide) * torch.tensor(0.3, dtype=wide)).to(x.dtype))
    kernels.add(y, x, x)
    assert torch.equal(y, x + x)
    with pytest.raises(ValueError, match=r"scale\(\): y: shape \[999\] does not match x"):
        kernels.scale(y[:-1], x, 1.0)


def test_jax_as_input(kernels):
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(5, dtype="float32")
    y = np.zeros(5, "float32")
    kernels.scale(y, x, 2.0)
    np.testing.assert_array_equal(y, [0, 2, 4, 6, 8])


def test_jax_as_output_is_written(kernels):
    """Nothing tells it from a tensor that may be: the page on ownership warns of it."""
    jax = pytest.importorskip("jax")
    y = jax.numpy.zeros(4, "float32")
    plus_y = jax.jit(lambda x: x + y)
    np.testing.assert_array_equal(plus_y(0), [0, 0, 0, 0])
    kernels.scale(y, np.ones(4, "float32"), 2.0)
    np.testing.assert_array_equal(y, [2, 2, 2, 2])  # behind JAX's back
    np.testing.assert_array_equal(plus_y(0), [0, 0, 0, 0])


def test_under_jit(kernels):
    jax = pytest.importorskip("jax")
    jax_tvm_ffi = pytest.importorskip("jax_tvm_ffi")
    # [jit]
    jax_tvm_ffi.register_ffi_target(
        "kernkit.scale", kernels.scale, ["rets", "args", "attrs.factor"], platform="cpu"
    )

    @jax.jit
    def double(x):
        out = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.ffi.ffi_call("kernkit.scale", out)(x, factor=2.0) + 1
    # [/jit]

    x = jax.numpy.arange(5, dtype="float32")
    np.testing.assert_array_equal(double(x), [1, 3, 5, 7, 9])
