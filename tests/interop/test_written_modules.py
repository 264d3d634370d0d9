# SPDX-License-Identifier: Apache-2.0
"""Tests modules of `kernkit bindings` with invalid sizes, writes under vmap, a second import, and NumPy scalars."""

import importlib

import compiled
import numpy as np
import packages
import pytest
import tvm_ffi


@pytest.fixture(scope="module")
def folder(root, tmp_path_factory):
    """Returns the folder that contains the package `written`."""
    folder = tmp_path_factory.mktemp("written")
    library = compiled.build(root / "tests/interop/frameworks/written.cc", folder / "libwritten.so", "-fvisibility=hidden", "-O0")
    packages.write_package(root, library, folder, "written", "--frameworks")
    return folder


@pytest.fixture
def torch_ops(folder):
    torch = pytest.importorskip("torch")
    packages.imported(folder, "written.torch")
    return torch.ops.written


@pytest.fixture
def jax_ops(folder):
    pytest.importorskip("jax")
    return packages.imported(folder, "written.jax")


# (op, k, the error of the form that allocates the output, the error for an output that the caller passes)
SIZES = [
    ("quotient", 0, r"quotient\(\): y: n / k: a divisor is not positive", r"quotient\(\): y: shape \[4\] does not match \[n / k\]"),
    ("quotient", -2, r"quotient\(\): y: n / k: a divisor is not positive", r"quotient\(\): y: shape \[4\] does not match \[n / k\]"),
    ("quotient", 3, r"quotient\(\): y: n / k is not an integer", r"quotient\(\): y: shape \[4\] does not match \[n / k\]"),
    ("rounded", 0, r"rounded\(\): y: ceil_div\(n, k\): a divisor is not positive", r"rounded\(\): y: shape \[4\] does not match"),
    ("difference", 5, r"difference\(\): y: n - k is negative", r"difference\(\): y: shape \[4\] does not match \[n - k\]"),
    ("multiple", -1, r"multiple\(\): y: n \* k is negative", r"multiple\(\): y: shape \[4\] does not match \[n \* k\]"),
    ("multiple", 2**62, r"multiple\(\): y: n \* k exceeds 2\^63 - 1", r"multiple\(\): y: shape \[4\] does not match \[n \* k\]"),
]  # fmt: skip


@pytest.mark.parametrize("op, k, functional, in_place", SIZES)
def test_torch_invalid_sizes(torch_ops, op, k, functional, in_place):
    import torch

    packet, x, y = getattr(torch_ops, op), torch.arange(4.0), torch.zeros(4)
    calls = [(lambda x: packet.functional(x, k), functional), (lambda x: packet.default(y, x, k), in_place)]
    for call, message in calls:
        with pytest.raises((RuntimeError, ValueError), match=message):
            call(x)
        with pytest.raises(RuntimeError, match=message):
            call(x.to("meta")) if message is functional else packet.default(y.to("meta"), x.to("meta"), k)
        torch._dynamo.reset()
        with pytest.raises(Exception, match=message):
            torch.compile(call, fullgraph=True, backend="aot_eager")(x)
    with pytest.raises(RuntimeError, match=r"made\(\): y: n / k: a divisor is not positive"):
        torch_ops.made(x.to("meta"), 0)


def test_torch_sizes_that_a_caller_gives(torch_ops):
    import torch

    assert torch_ops.fill.functional(torch.ones(2), k=0).shape == (2, 0)
    with pytest.raises(RuntimeError, match=r"fill\(\): y: k is negative"):
        torch_ops.fill.functional(torch.ones(2), k=-1)


@pytest.mark.parametrize("op, k, message", [(op, k, functional) for op, k, functional, _ in SIZES])
def test_jax_invalid_sizes(jax_ops, op, k, message):
    import jax

    for run in (lambda f: f, jax.jit):
        with pytest.raises(ValueError, match=message):
            run(lambda x: getattr(jax_ops, op)(x, k))(jax.numpy.arange(4.0))


def test_jax_sizes_that_a_caller_gives(jax_ops):
    import jax

    x = jax.numpy.ones(2)
    assert jax_ops.fill(x, k=3).shape == (2, 3) and jax_ops.fill(x, k=0).shape == (2, 0)
    for k in (-1, 2**63):
        with pytest.raises(ValueError, match=rf"fill\(\): k: expected a size from 0 to 2\^63 - 1, got {k}"):
            jax_ops.fill(x, k=k)
    message = r"fill\(\): y: shape \[2, 4611686018427387904\], which is \[n, k\] with k = 4611686018427387904, has more than 2\^63 - 1 bytes"
    with pytest.raises(ValueError, match=message):
        jax_ops.fill(x, k=2**62)


def test_jax_exports_a_size_that_may_be_negative_for_some_sizes(jax_ops):
    import jax
    from jax import export

    (n,) = export.symbolic_shape("n")
    check = export.DisabledSafetyCheck.custom_call("written.difference")
    run = export.export(jax.jit(lambda x: jax_ops.difference(x, 2)), disabled_checks=[check])(jax.ShapeDtypeStruct((n,), "float32"))
    assert run.call(jax.numpy.arange(4.0)).tolist() == [0, 1]


def test_torch_vmap_of_ops_that_write(torch_ops):
    import torch

    w = torch.arange(12.0).reshape(3, 4)

    def fresh(w):
        a = torch.zeros_like(w)
        torch_ops.add_into(a, w)
        return a

    assert torch.equal(torch.vmap(fresh)(w), w)
    assert torch.equal(torch.compile(torch.vmap(fresh), backend="aot_eager")(w), w)
    for op in (torch_ops.add_into, torch_ops.each_added):
        for dim in (0, 1):
            a, batched = w.clone(), w.clone()
            torch.vmap(lambda a, w, op=op: op(a, w), in_dims=(dim, dim), out_dims=None)(a, w)
            assert torch.equal(a, 2 * w)
            before = batched._version
            torch.vmap(lambda a, w, op=op: op(a, w), in_dims=(0, None), out_dims=None)(batched, w[0])
            assert torch.equal(batched, w + w[0]) and batched._version > before
        with pytest.raises(RuntimeError, match=r"\(\): x: is written, and has no batch where another argument has"):
            torch.vmap(lambda w, op=op: op(torch.zeros(4), w), out_dims=None)(w)
    a, also = w.clone(), w.clone()
    torch.vmap(lambda a: torch_ops.doubled(a), out_dims=None)(a)
    torch.vmap(lambda a, b: torch_ops.doubled(a, b), out_dims=None)(a, also)
    assert torch.equal(a, 4 * w) and torch.equal(also, 2 * w)
    nested = torch.stack([w, w])
    torch.vmap(torch.vmap(lambda a, w: torch_ops.add_into(a, w), out_dims=None), out_dims=None)(nested, nested.clone())
    assert torch.equal(nested, torch.stack([2 * w, 2 * w]))


def test_torch_vmap_of_an_empty_batch(torch_ops):
    import torch

    x = torch.zeros(0, 4)
    assert torch.vmap(lambda x: torch_ops.quotient.functional(x, 2))(x).shape == (0, 2)
    torch.vmap(lambda a, w: torch_ops.add_into(a, w), out_dims=None)(x, x)


def test_a_written_module_of_torch_is_reloaded(torch_ops):
    import sys

    import torch

    for module in ("written._torch", "written.torch", "written._torch", "written._ops", "written._torch"):
        importlib.reload(sys.modules[module])
        x = torch.arange(4.0)
        assert torch.ops.written.quotient.functional(x, 2).tolist() == [0, 1]
        assert sys.modules["written._torch"].quotient.functional(x, 2).tolist() == [0, 1]
        assert torch_ops.quotient.functional(x, 2).tolist() == [0, 1]
        torch._dynamo.reset()
        in_graph = torch.compile(lambda x: torch.ops.written.quotient.functional(x, 2) + 1, fullgraph=True, backend="aot_eager")
        assert in_graph(x).tolist() == [1, 2]

        def plain(x):
            y = torch.zeros(2)
            sys.modules["written._ops"].quotient(y, x, 2)
            return y

        if module == "written._torch":
            assert torch.compile(plain, fullgraph=True, backend="aot_eager")(x).tolist() == [0, 1]
        assert torch.vmap(lambda x: torch.ops.written.quotient.functional(x, 2))(torch.ones(2, 4)).shape == (2, 2)


def test_a_written_module_of_jax_is_reloaded(jax_ops):
    import sys

    for module in ("written._jax", "written.jax", "written._jax"):
        importlib.reload(sys.modules[module])
        assert sys.modules["written._jax"].quotient(np.arange(4, dtype="float32"), 2).tolist() == [0, 1]


def test_scalars_of_numpy_count_as_pythons(folder):
    ops = packages.imported(folder, "written._ops")
    for value in (True, False, np.bool_(True), np.bool_(False), (np.ones(3) > 0).all()):
        assert ops.takes_bool(value) is bool(value)
        assert ops.takes_optional(value) is bool(value) and ops.takes_optional() is False
    assert ops.takes_list([True, np.bool_(True), np.bool_(False)]) == 2 and ops.takes_list(()) == 0
    with pytest.raises(TypeError, match=r"takes_list\(\): all: expected a list, got Tensor"):
        ops.takes_list(np.array([True, False]))
    for k, f in ((np.int64(3), np.float32(1.5)), (np.int8(3), np.float64(1.5)), (np.uint16(3), np.float16(1.5))):
        assert ops.takes_scalars(k, f) == 4.5
    for value in ("True", 1.0, np.float32(1), np.array(True)):
        with pytest.raises(TypeError, match=r"takes_bool\(\): n: expected bool, got "):
            ops.takes_bool(value)


def test_plain_ops_return_new_tensors(folder):
    ops = packages.imported(folder, "written._ops")
    x = tvm_ffi.from_dlpack(np.arange(4, dtype="float32"))
    assert np.from_dlpack(ops.made(x, 2)).shape == (2,) and np.from_dlpack(ops.owned(x)).tolist() == [0, 1, 2, 3]


def test_scalars_of_numpy_in_operators_of_torch(torch_ops):
    import torch

    x = torch.tensor([1.0, 5.0])
    assert torch_ops.limited.functional(x).tolist() == [1, 5]
    for limit in (3, 3.0, np.float32(3), np.float64(3), np.int64(3)):
        assert torch_ops.limited.functional(x, limit).tolist() == [1, 3]
        y = torch.zeros(2)
        torch_ops.limited(y, x, limit=limit)
        assert y.tolist() == [1, 3]


def test_an_op_that_keeps_a_tensor_is_no_function_of_jax(folder):
    """An op that takes an owning Tensor has no function for JAX: the tensor would outlive XLA's memory, which is valid
    for one call."""
    text = (folder / "written/_jax.py").read_text()
    assert "# No function for JAX: x takes an owning Tensor, and XLA's memory is valid for one call: take a TensorView." in text
    assert "def owned(" not in text and "def made(" in text
