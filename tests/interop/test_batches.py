# SPDX-License-Identifier: Apache-2.0
"""Tests batches of ops that are not elementwise, and errors of ops whose result is not new memory, from Python, PyTorch
and JAX."""


import compiled
import numpy as np
import packages
import pytest

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
OF_SUM = np.stack([x / x.sum() for x in X])
# {op whose result is not new memory: the expected error}
SHARED = {
    "scaled": r"scaled\(\): y: the result shares memory with the argument x",
    "same": r"same\(\): y: the result shares memory with the argument x",
    "written": r"written\(\): y: the result shares memory with the argument x",
    "twice": r"twice\(\): a: the result shares memory with the result b",
    "kept": r"kept\(\): y: the result has 2 owners",
}


@pytest.fixture(scope="module")
def batches(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    library = folder / "libbatches.so"
    compiled.build(root / "tests/interop/frameworks/batches.cc", library, "-fvisibility=hidden")
    packages.write_package(root, library, folder, "batches", "--frameworks")
    return packages.imported(folder, "batches"), folder


@pytest.fixture(scope="module")
def torch_batches(batches):
    torch = pytest.importorskip("torch")
    packages.imported(batches[1], "batches.torch")
    return torch.ops.batches


@pytest.fixture(scope="module")
def jax_batches(batches):
    pytest.importorskip("jax")
    return packages.imported(batches[1], "batches.jax")


@pytest.mark.parametrize("op", SHARED)
def test_plain_results_are_new_memory(batches, op):
    with pytest.raises(RuntimeError, match=SHARED[op]):
        getattr(batches[0], op)(X.copy())
    y = np.from_dlpack(batches[0].scaled(X, 2.0))
    np.testing.assert_array_equal(y, 2 * X)
    # The op is not a framework operator, because its schema line has no shape, so it may return its argument.
    np.testing.assert_array_equal(np.from_dlpack(batches[0].given_back(X)), X)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("op", SHARED)
def test_results_of_operators_are_new_memory(torch_batches, op, backend):
    import torch

    def step(a):
        result = getattr(torch_batches, op)(a.cumsum(0))
        return (result if isinstance(result, torch.Tensor) else result[0]) + 1

    for call in (step, torch.compile(step, backend=backend, fullgraph=True)):
        torch._dynamo.reset()
        with pytest.raises(RuntimeError, match=SHARED[op]):
            call(torch.arange(4.0))
    doubled = torch.compile(lambda a: torch_batches.scaled(a.cumsum(0), 2.0) + 1, backend=backend, fullgraph=True)
    assert doubled(torch.arange(4.0)).tolist() == [1, 3, 7, 13]


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch warns that vmap calls the op in a loop
def test_results_in_vmap_are_new_memory(torch_batches):
    import torch

    x = torch.from_numpy(X)
    for op in ("scaled", "same", "twice", "kept"):
        with pytest.raises(RuntimeError, match=SHARED[op]):
            torch.vmap(lambda row, op=op: getattr(torch_batches, op)(row))(x)
    assert (torch.vmap(lambda row: torch_batches.scaled(row, 2.0))(x) == 2 * x).all()


# The ops "same" and "written" are not tested here: they take an owning tensor, which XLA does not pass.
@pytest.mark.parametrize("op", ["scaled", "twice", "kept"])
def test_results_in_jax_are_new_memory(jax_batches, op):
    import jax

    function = getattr(jax_batches, op)
    for call in (function, jax.jit(function), jax.vmap(function), jax.jit(jax.vmap(function))):
        with pytest.raises(Exception, match=SHARED[op]):
            jax.block_until_ready(call(jax.numpy.asarray(X)))
    assert (jax.vmap(lambda row: jax_batches.scaled(row, 2.0))(X) == 2 * X).all()


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch warns that vmap calls the op in a loop
def test_vmap_of_an_op_that_sums_is_that_of_each_item(torch_batches):
    import torch

    x = torch.from_numpy(X)
    for op in (torch_batches.of_sum.functional, torch_batches.of_sum_made):
        for call in (torch.vmap(op), torch.compile(torch.vmap(op), backend="aot_eager")):
            np.testing.assert_allclose(call(x).numpy(), OF_SUM, rtol=1e-6)
        np.testing.assert_allclose(torch.vmap(op, in_dims=1)(x.T).numpy(), OF_SUM, rtol=1e-6)
        nested = torch.vmap(torch.vmap(op))(torch.stack([x, 2 * x]))
        np.testing.assert_allclose(nested.numpy(), np.stack([OF_SUM, OF_SUM]), rtol=1e-6)
    assert (torch.vmap(lambda row: torch_batches.multiply.functional(row, 3.0))(x) == 3 * x).all()


def test_jax_vmap_of_an_op_that_sums_is_that_of_each_item(jax_batches):
    import jax

    for op in (jax_batches.of_sum, jax_batches.of_sum_made, jax_batches.of_sum_in_place):
        for call in (jax.vmap(op), jax.jit(jax.vmap(op))):
            np.testing.assert_allclose(call(X), OF_SUM, rtol=1e-6)
        nested = jax.vmap(jax.vmap(op))(np.stack([X, 2 * X]))
        np.testing.assert_allclose(nested, np.stack([OF_SUM, OF_SUM]), rtol=1e-6)
    scaled = jax.vmap(lambda row: jax_batches.multiply(row, 3.0))
    assert (scaled(X) == 3 * X).all()
    assert "while" not in jax.jit(scaled).lower(X).as_text()
