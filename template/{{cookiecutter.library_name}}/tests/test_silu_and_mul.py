# SPDX-License-Identifier: Apache-2.0
"""silu_and_mul as Python calls it."""

import numpy as np
import pytest
import template_library


# Relative errors. float16: one rounding, doubled for the preceding float32 arithmetic.
# Other dtypes: eight roundings.
@pytest.mark.parametrize(
    "dtype, rtol", [("float16", 2**-10), ("float32", 2**-21), ("float64", 2**-50)]
)
@pytest.mark.parametrize("n, d", [(0, 3), (3, 0), (1, 1), (7, 5), (64, 129)])
def test_values(dtype: str, rtol: float, n: int, d: int) -> None:
    x = np.random.default_rng(0).uniform(0.5, 4, (n, 2 * d)).astype(dtype)
    x[:, ::2] *= -1
    y = np.full((n, d), np.nan, dtype)
    template_library.silu_and_mul(y, x)
    gate, up = x[:, :d].astype("float64"), x[:, d:].astype("float64")
    np.testing.assert_allclose(y, gate / (1 + np.exp(-gate)) * up, rtol=rtol)


def test_a_view_into_a_larger_array() -> None:
    memory = np.arange(9, dtype="float32")
    y = np.zeros((2, 2), "float32")
    template_library.silu_and_mul(y, memory[1:].reshape(2, 4))
    gate = memory[[1, 2, 5, 6]]
    expected = gate / (1 + np.exp(-gate)) * memory[[3, 4, 7, 8]]
    np.testing.assert_allclose(y.ravel(), expected, rtol=1e-6)


def test_a_wrong_shape_is_a_value_error() -> None:
    with pytest.raises(ValueError) as error:
        template_library.silu_and_mul(np.zeros((2, 3), "float32"), np.zeros((2, 5), "float32"))
    expected = "silu_and_mul(): x: shape [2, 5] does not match [n, 2 * d]"
    assert str(error.value).startswith(expected)


def test_a_wrong_dtype_is_a_type_error() -> None:
    with pytest.raises(TypeError) as error:
        template_library.silu_and_mul(np.zeros((2, 3), "int32"), np.zeros((2, 6), "int32"))
    assert str(error.value) == (
        "silu_and_mul(): y: dtype int32 is not supported; expected float16, bfloat16, float32 or "
        "float64"
    )
#@ if frameworks


def gated(x: np.ndarray) -> np.ndarray:
    d = x.shape[-1] // 2
    return x[:, :d] / (1 + np.exp(-x[:, :d])) * x[:, d:]


def test_an_operator_of_torch() -> None:
    torch = pytest.importorskip("torch")
    import template_library.torch  # noqa: F401

    op = torch.ops.template_library.silu_and_mul.functional
    x = torch.linspace(-2, 2, 24).reshape(3, 8)
    np.testing.assert_allclose(op(x).numpy(), gated(x.numpy()), rtol=1e-6)
    meta = op(x.to("meta"))
    assert meta.shape == (3, 4) and meta.dtype == torch.float32


def test_a_function_for_jax() -> None:
    jax = pytest.importorskip("jax")
    import template_library.jax as ops

    x = np.linspace(-2, 2, 24, dtype="float32").reshape(3, 8)
    np.testing.assert_allclose(jax.jit(ops.silu_and_mul)(x), gated(x), rtol=1e-6)
    with pytest.raises(ValueError, match=r"silu_and_mul\(\): x: shape \[7\] does not match"):
        ops.silu_and_mul(jax.numpy.ones(7))
#@ end
