# SPDX-License-Identifier: Apache-2.0
"""Tests gradients and batches of PyTorch's operators of `kernkit bindings`."""

import os
import subprocess
import sys

import pytest
from torch_cases import UTILITIES, normal, reference_rms, reference_silu, torch


def test_a_gradient_is_never_silently_wrong(torch_ops):
    x, y, w = normal(3, 8), normal(3, 4), normal(3, 4).requires_grad_()
    z = (w * y).sum()
    torch_ops.silu_and_mul(y, x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    tracked = normal(3, 8).requires_grad_()
    rejected = [
        (lambda: torch_ops.silu_and_mul(w, x), r"silu_and_mul\(\): what is written has no gradient"),
        (lambda: torch_ops.silu_and_mul(y, tracked), r"silu_and_mul\(\): what is written has no gradient"),
        (lambda: torch_ops.row_max(tracked), r"row_max\(\): has no gradient in torch"),
        (lambda: torch_ops.scale.functional(tracked, 2.0), r"scale\(\): has no gradient in torch"),
        (lambda: torch_ops.sum_list.functional([x, tracked]), r"sum_list\(\): has no gradient"),
    ]
    for call, message in rejected:
        with pytest.raises(RuntimeError, match=message):
            call()
        torch._dynamo.reset()
        with pytest.raises(Exception, match=message):
            torch.compile(call, fullgraph=True, backend="aot_eager")()
        with torch.no_grad():
            call()


def test_a_plain_function_is_opaque_to_torch(torch_ops, plain):
    """An operator increments the version counter of a tensor that it writes and has a gradient. A plain function leaves
    the version counter unchanged and has no gradient."""
    x, y = normal(3, 8).requires_grad_(), normal(3, 4)
    before = y._version
    plain.silu_and_mul(y, x)
    assert y._version == before and plain.rms_norm(x).grad_fn is None
    with torch.no_grad():
        torch_ops.silu_and_mul(y, x)
    assert y._version == before + 1 and torch_ops.rms_norm(x).grad_fn is not None


def test_gradients_of_torch_func(torch_ops):
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: torch_ops.silu_and_mul.functional(x).sum())(normal(3, 8))


TRAIN = """
import torch, torch_cases as t, shaped.torch, on_rows.torch
ops, rows = torch.ops.shaped, torch.ops.on_rows
# [register]
def keep(ctx, inputs, output):
    ctx.save_for_backward(output)

def backward(ctx, grad):
    (y,) = ctx.saved_tensors
    return y * (grad - (grad * y).sum(-1, keepdim=True))

torch.library.register_autograd("on_rows::softmax.functional", backward, setup_context=keep)
# [/register]
w = t.normal(6, 8)
def step(f, compile):
    weight = w.clone().requires_grad_()
    def loss(x): return (f(x @ weight) ** 2).sum()
    (torch.compile(loss, fullgraph=True, backend="aot_eager") if compile else loss)(t.normal(3, 6)).backward()
    with torch.no_grad(): weight -= 0.1 * weight.grad
    return weight.detach()
def softmax(x): return x.softmax(-1)
for reference, op in ((t.reference_silu, ops.silu_and_mul.functional), (t.reference_rms, ops.rms_norm),
                      (t.reference_rms, ops.rms_norm_out.functional), (softmax, rows.softmax.functional)):
    wanted = step(reference, False)
    for compile in (False, True):
        torch._dynamo.reset()
        torch.testing.assert_close(step(op, compile), wanted)
"""


@pytest.mark.all
def test_training_steps_through_compile_equal_torchs(shaped, rows, root, tmp_path):
    """Training steps compiled by torch.compile have the results of torch's own operators. The steps call forms that
    allocate their results and an op that returns a result, with a backward that the op names and with a registered
    backward. The steps run in a process without earlier calls."""
    path = os.pathsep.join([str(shaped), str(rows), str(root / "tests/interop")])
    result = subprocess.run([sys.executable, "-c", TRAIN], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
                            cwd=tmp_path)  # fmt: skip
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("with_weight", [False, True])
def test_gradients_of_the_named_backward_are_torchs(torch_ops, with_weight):
    """Gradients computed by the backward that an op names equal torch's gradients, also if the incoming gradient is not
    contiguous, like the gradient of a sum."""
    def gradients(f):
        x, weight = normal(3, 8).requires_grad_(), normal(8).requires_grad_() if with_weight else None
        f(x, weight, 1e-3).sum().backward()
        return [x.grad, weight.grad if with_weight else None]

    for op in (torch_ops.rms_norm_out.functional, torch_ops.rms_norm):
        for got, expected in zip(gradients(op), gradients(reference_rms)):
            torch.testing.assert_close(got, expected)
    x, weight = normal(3, 8).requires_grad_(), normal(8).requires_grad_()
    for op, arguments in ((torch_ops.rms_norm_out.functional, (x, weight)), (torch_ops.rms_norm.default, (x, weight)),
                          (torch_ops.silu_and_mul.functional, (x,))):  # fmt: skip
        assert set(torch.library.opcheck(op, arguments, test_utils=UTILITIES).values()) == {"SUCCESS"}


def test_vmap_is_one_call_if_a_batch_may_come_first(torch_ops, torch_reference):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            Count.calls += "shaped" in str(function)
            return function(*args, **(kwargs or {}))

    x, y = normal(5, 3, 4), normal(3, 4)
    with Count():
        got = torch.vmap(lambda x: torch_ops.add.functional(x, y), in_dims=0)(x)
    torch.testing.assert_close(got, x + y)
    assert Count.calls == 1
    torch.testing.assert_close(torch.vmap(lambda x: torch_ops.scale.functional(x, 2.0), in_dims=1)(x), 2 * x.transpose(0, 1))
    nested = torch.vmap(torch.vmap(lambda x: torch_ops.scale.functional(x, 3.0)))(x)
    torch.testing.assert_close(nested, 3 * x)
    torch.testing.assert_close(torch.vmap(torch_reference.add.functional, in_dims=(0, None))(x, y), x + y)


@pytest.mark.filterwarnings("ignore::UserWarning")  # torch warns that vmap calls the op in a loop
def test_vmap_of_other_ops_is_correct(torch_ops):
    x = normal(5, 3, 8)
    torch.testing.assert_close(torch.vmap(torch_ops.silu_and_mul.functional)(x), reference_silu(x))
