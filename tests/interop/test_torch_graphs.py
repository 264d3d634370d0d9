# SPDX-License-Identifier: Apache-2.0
"""Tests PyTorch's operators of `kernkit bindings` in graphs of torch.compile and torch.export."""

import copy
import os
import subprocess
import sys

import pytest
from torch_cases import CASES, REFERENCE, ROWS, after_all_kinds, normal, overload, tensors, torch


@pytest.mark.all
@pytest.mark.parametrize("backend, dynamic", [("aot_eager", True), ("inductor", True), ("inductor", False)])
def test_one_graph_has_all_operators(torch_ops, torch_rows, torch_reference, backend, dynamic):
    """One graph of torch.compile contains the operators of all libraries and gives the results of eager calls, also for
    tensors that the graph reads after an operator has written them. A second call with the same sizes compiles
    nothing."""
    all_of_them = ((torch_ops, CASES), (torch_rows, ROWS), (torch_reference, REFERENCE))
    cases = {(owner, case): make for owner, cases_of_owner in all_of_them for case, make in cases_of_owner.items()}

    def run(arguments):
        results = []
        for (owner, case), passed in zip(cases, arguments):
            result = overload(owner, case)(*passed)
            results.append((result, [t.float() * 2 + 1 for t in tensors(passed)]))
        return results

    eager = [make() for make in cases.values()]
    traced, again = copy.deepcopy(eager), copy.deepcopy(eager)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    expected = run(eager)
    compiled = torch.compile(run, backend=backend, fullgraph=True, dynamic=dynamic)
    for arguments in (traced, again):
        torch.testing.assert_close(compiled(arguments), expected)
        for actual, eager_result in zip(arguments, eager):
            torch.testing.assert_close(tensors(actual), tensors(eager_result))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("dynamic, compilations", [(None, 2), (True, 1)])
def test_six_sizes_compile_seldom(torch_ops, dynamic, compilations):
    count = 0

    def backend(graph, _):
        nonlocal count
        count += 1
        return graph.forward

    def f(x):
        return torch_ops.quant.functional(torch_ops.silu_and_mul.functional(x), 4)[1] + 1

    torch._dynamo.reset()
    traced = torch.compile(f, backend=backend, fullgraph=True, dynamic=dynamic)
    for n in (3, 5, 7, 11, 13, 17):
        x = normal(n, 8 * n)
        torch.testing.assert_close(traced(x), f(x))
    assert count == compilations


def test_plain_functions_are_the_operators_in_a_graph(plain, torch_ops):
    def f(x):
        y = torch.empty(x.shape[0], x.shape[1] // 2)
        plain.silu_and_mul(y, x)
        plain.scale_(y, 0.5)
        return plain.rms_norm(y, eps=1e-5) + 1

    targets = []

    def backend(graph, _):
        targets.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    torch._dynamo.reset()
    x = normal(3, 8)
    torch.testing.assert_close(torch.compile(f, fullgraph=True, dynamic=True, backend=backend)(x), f(x))
    assert {"shaped.silu_and_mul.default", "shaped.scale_.default", "shaped.rms_norm.default"} <= set(targets)


@pytest.mark.all
def test_views_and_other_layouts_are_correct_in_a_graph(torch_ops):
    def f(x):
        y = torch.zeros(4, 6)
        torch_ops.scale(y[1:3], x[1:3], 3.0)
        return y, torch_ops.scale.functional(x.t(), 2.0), torch_ops.silu_and_mul.functional(x.t())

    x = normal(4, 6)
    torch._dynamo.reset()
    y = torch.zeros(4, 6)
    y[1:3] = 3 * x[1:3]
    d = x.t()
    expected = (y, 2 * x.t(), torch.nn.functional.silu(d[:, :2]) * d[:, 2:])
    torch.testing.assert_close(torch.compile(f, fullgraph=True)(x), expected)
    with pytest.raises(ValueError, match=r"x: must be contiguous"):
        torch.compile(f, fullgraph=True, backend="aot_eager")(x)


def test_make_fx_sees_operators_and_no_plain_functions(plain, torch_ops):
    from torch.fx.experimental.proxy_tensor import make_fx

    def calls(function):
        graph = make_fx(lambda x: function(x) + 1)(normal(3, 8)).graph
        return [str(node.target) for node in graph.nodes if "shaped" in str(node.target)]

    assert calls(torch_ops.silu_and_mul.functional) == ["shaped.silu_and_mul.functional"]
    assert calls(plain.rms_norm) == []


@pytest.mark.parametrize("shape", [(7,), (3, 7)])
def test_a_wrong_shape_has_the_words_of_the_op(torch_ops, shape):
    message = r"silu_and_mul\(\): x: shape \[[\d, ]+\] does not match \[n, 2 \* d\]"
    y = normal(3, 4)
    for call in (torch_ops.silu_and_mul.functional, lambda x: torch_ops.silu_and_mul(y, x)):
        with pytest.raises((RuntimeError, ValueError), match=message):
            call(normal(*shape))
        torch._dynamo.reset()
        with pytest.raises(Exception, match=message):
            torch.compile(call, fullgraph=True, backend="aot_eager")(normal(*shape))
    with pytest.raises(Exception, match=r"y: shape \[3, 3\] does not match \[n, d\]"):
        torch.compile(torch_ops.silu_and_mul, fullgraph=True, backend="aot_eager")(normal(3, 3), normal(3, 8))


RELOAD = """
import sys, torch, torch_cases as t, shaped.torch, on_rows.torch, reference_ops.torch
loaded = torch.export.load(sys.argv[1]).module()
for size in (2, 5):
    x = t.normal(size, 8)
    torch.testing.assert_close(loaded(x), t.after_all_kinds(x))
"""


@pytest.mark.all
def test_export_and_reload_with_a_size_that_varies(torch_ops, torch_rows, torch_reference, root, tmp_path):
    """Another process, which has only the packages and the exported file, runs an exported graph with varying sizes."""

    class Model(torch.nn.Module):
        def forward(self, x):
            gated = torch_ops.silu_and_mul.functional(x)
            normed = torch_ops.rms_norm(torch_rows.layer_norm.functional(x))
            torch_rows.softmax(normed, torch_reference.scale.functional(normed, 2.0))
            return gated + 1, torch_rows.gelu_and_mul.functional(x), normed, torch_ops.row_max(x)[1]

    n = torch.export.Dim("n", min=2)
    exported = torch.export.export(Model(), (normal(3, 8),), dynamic_shapes={"x": {0: n}})
    torch.testing.assert_close(exported.module()(normal(4, 8)), after_all_kinds(normal(4, 8)))
    torch.export.save(exported, tmp_path / "model.pt2")
    path = os.pathsep.join([*sys.path, str(root / "tests/interop")])
    result = subprocess.run([sys.executable, "-c", RELOAD, tmp_path / "model.pt2"], env={**os.environ, "PYTHONPATH": path},
                            capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert result.returncode == 0, result.stderr
