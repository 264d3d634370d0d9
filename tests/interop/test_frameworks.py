# SPDX-License-Identifier: Apache-2.0
"""Calls the reference kernels with tensors of PyTorch and JAX. These tests need ./kk test --with torch,jax."""

import importlib.util
import os
import subprocess
import sys

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


def test_torch_tensors_without_memory(kernels):
    """An op rejects tensors that have sizes and a dtype but a null data pointer, such as the tensors with which
    torch.compile traces."""
    torch = pytest.importorskip("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    y = torch.zeros(2, 4)
    with FakeTensorMode():
        fake = torch.empty(2, 4)
    for args, name in (((y, fake), "x"), ((fake, y), "y"), ((fake, fake), "x")):
        with pytest.raises(ValueError, match=rf"scale\(\): {name}: data is null, shape is \[2, 4\]"):
            kernels.scale(*args, 2.0)
    assert not y.any()


BITS = """
import sys, torch, tvm_ffi
kernels = tvm_ffi.load_module(sys.argv[1])
every = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16)
ties = 1 + torch.arange(64) / 4096  # products that are ties of the rounding, or adjacent to a tie
factors = [0.0, -1.0, 0.1, 3.1e4, 1e30, 2.0**-14, 2.0**-24, 2.0**-126, 1e-39, float("inf"), float("nan")]
for dtype in (torch.float16, torch.bfloat16):
    x = every.view(dtype)
    for factor in factors + ties.tolist() + (-1e-3 * ties).tolist():
        y = torch.empty_like(x)
        kernels.scale(y, x, factor)
        expected = x * factor
        same = (y.view(torch.int16) == expected.view(torch.int16)) | (y.isnan() & expected.isnan())
        assert same.all(), (dtype, factor, x[~same][:4], y[~same][:4], expected[~same][:4])
    for shift in (1, 77, 1 << 14, 40000):
        other, z = x.roll(shift), torch.empty_like(x)
        kernels.add(z, x, other)
        expected = x + other
        same = (z.view(torch.int16) == expected.view(torch.int16)) | (z.isnan() & expected.isnan())
        assert same.all(), (dtype, shift, x[~same][:4], other[~same][:4])
"""


@pytest.mark.all
@pytest.mark.parametrize("instructions", ["baseline", "avx2", "avx512"])
def test_torch_bit_for_bit(library, instructions):
    """For all 2^16 values of the 16-bit floats, results equal torch's results bit by bit, with every instruction set of
    the machine."""
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed")
    env = {**os.environ, "KERNKIT_INSTRUCTION_SET": instructions}
    subprocess.run([sys.executable, "-c", BITS, library], env=env, check=True)


def test_jax_as_input(kernels):
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(5, dtype="float32")
    y = np.zeros(5, "float32")
    kernels.scale(y, x, 2.0)
    np.testing.assert_array_equal(y, [0, 2, 4, 6, 8])


def test_jax_as_output_is_written(kernels):
    """An op can write to a JAX array, because JAX exports its immutable arrays as writable; the page on ownership warns
    about such writes."""
    jax = pytest.importorskip("jax")
    y = jax.numpy.zeros(4, "float32")
    plus_y = jax.jit(lambda x: x + y)
    np.testing.assert_array_equal(plus_y(0), [0, 0, 0, 0])
    kernels.scale(y, np.ones(4, "float32"), 2.0)
    np.testing.assert_array_equal(y, [2, 2, 2, 2])  # written, although JAX assumes that arrays are immutable
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
