# SPDX-License-Identifier: Apache-2.0
"""Every generated function works for ops, parameters, sizes and results that have names of builtins, modules, Python
keywords or of objects in the generated modules."""

import importlib.util
import inspect
import subprocess
import sys
import typing

import compiled
import numpy as np
import packages
import pytest

OPS = (
    "list any len range self lambda None isinstance getattr tuple str ValueError zip enumerate complex ctx import_ import kernel_of_list "
    "library numpy"
).split()
# Names of parameters, sizes and results.
NAMES = (
    "y_dtype ctx _run inputs output list any torch len range jax numpy self lambda None isinstance getattr tuple str ValueError "
    "RuntimeError zip map enumerate complex all float int bool type op name names kk _kk_torch _torch os sys builtins tvm_ffi library "
    "fits holds arrays results saved gradient attributes result_avals keyword_only_inputs _ceil_div _numel True False is def pass "
    "tensor vmap given aliases operands args kwargs options function frozenset print object super _ops e i x_ x"
).split()

HEAD = """// SPDX-License-Identifier: Apache-2.0
#include "kernkit/expect.h"
#include "kernkit/shapes/backward.h"
#include "kernkit/shapes/export.h"
namespace probe {
using kernkit::Tensor;
using kernkit::TensorView;
void times(TensorView y, TensorView x, int64_t k, double f, bool negative) {
  KERNKIT_EXPECT(x).dtype(kernkit::types<float>{}).cpu().contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) {
    y.data<float>()[i] = x.data<const float>()[i] * static_cast<float>(negative ? -k : k) + (f > 1e300 ? 0.F : static_cast<float>(f));
  }
}
void backward(TensorView grad_x, TensorView grad_y, int64_t k) { times(grad_x, grad_y, k, 0.0, false); }
void in_place(TensorView x, TensorView w, int64_t k) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] += static_cast<float>(k) * w.data<const float>()[i];
}
}  // namespace probe
"""


def rotated(i):
    """Returns five names, which differ for each i."""
    at = 5 * i
    return [NAMES[(at + k) % len(NAMES)] for k in range(5)]


def source():
    text = HEAD
    for i, op in enumerate(OPS):
        y, x, n, k, f = rotated(i)
        if i % 3 == 2:
            line = f"(Tensor(a!) {x}[{n}, {k}], Tensor {f}[{n}, {k}], int {y}=2) -> ()"
            text += f'KERNKIT_EXPORT({op}, "{line}", "", probe::in_place)\n'
            continue
        dtype = ": ?" if i % 3 == 1 and i % 2 == 1 else ""
        line = f"(Tensor(out!) {y}[{n}, _d]{dtype}, Tensor {x}[{n}, _d], int {k}=2, float {f}=inf, bool ValueError_=False) -> ()"
        text += f'KERNKIT_EXPORT({op}, "{line}", "", probe::times)\n'
        if i % 3 == 0:
            back = f"(Tensor(out!) grad_{x}[{n}, _d], Tensor grad_{y}[{n}, _d], int {k}) -> ()"
            text += f'KERNKIT_EXPORT({op}_back, "{back}", "", probe::backward)\nKERNKIT_BACKWARD({op}, {op}_back)\n'
    return text


@pytest.fixture(scope="module")
def hostile(root, tmp_path_factory):
    """Returns the folder that contains the package `hostile_names`."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.cc").write_text(source())
    library = compiled.build(folder / "hostile.cc", folder / "libhostile.so", "-fvisibility=hidden", "-O0")
    packages.write_package(root, library, folder, "hostile_names", "--frameworks")
    return folder


def python(name):
    """Returns the name of an op's Python function."""
    return {"lambda": "lambda_", "None": "None_", "import": "import__"}.get(name, name)


def kinds():
    """Returns (Python name, kind, index) of each op. An op of kind 0 has a gradient, the caller may choose the dtype of
    an op of kind 1, and an op of kind 2 works in place."""
    return [(python(op), i % 3, i) for i, op in enumerate(OPS)]


X = np.arange(6, dtype="float32").reshape(2, 3)


def test_plain_functions(hostile):
    ops = packages.imported(hostile, "hostile_names._ops")
    for name, _, _ in kinds():
        function, y = getattr(ops, name), np.zeros_like(X)
        typing.get_type_hints(function)
        function(y, X, 3)
        np.testing.assert_array_equal(y, 3 * X)
        by_name = dict(zip(inspect.signature(function).parameters, (y, X, 2)))
        y[:] = 0
        function(**by_name)
        np.testing.assert_array_equal(y, 2 * X)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_operators_of_torch(hostile):
    torch = pytest.importorskip("torch")
    packages.imported(hostile, "hostile_names.torch")
    x = torch.from_numpy(X)
    for name, kind, i in kinds():
        packet = getattr(torch.ops.hostile_names, name)
        if kind == 2:
            def call(v, packet=packet):
                y = torch.zeros_like(v)
                packet.default(y, v, 3)
                return y
        else:
            options = {a.name: torch.float32 for a in packet.functional._schema.arguments if a.kwarg_only}

            def call(v, packet=packet, options=options):
                return packet.functional(v, 3, **options)
            y = torch.zeros(2, 3)
            packet.default(y, x, 3)
            assert torch.equal(y, 3 * x), name
        assert torch.equal(call(x), 3 * x), name
        assert torch.equal(torch.vmap(call)(torch.stack([x, 2 * x])), torch.stack([3 * x, 6 * x])), name
        if i < 9:  # the first nine ops: three ops of each kind
            torch._dynamo.reset()
            assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(x), 3 * x), name
        if kind == 0:
            tracked = x.clone().requires_grad_()
            call(tracked).sum().backward()
            assert torch.equal(tracked.grad, torch.full((2, 3), 3.0)), name


def test_functions_of_jax(hostile):
    jax = pytest.importorskip("jax")
    ops = packages.imported(hostile, "hostile_names.jax")
    for name, kind, i in kinds():
        function = getattr(ops, name)
        options = {n: "float32" for n, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}

        def call(v, function=function, options=options, kind=kind):
            return function(v * 0, v, 3) if kind == 2 else function(v, 3, **options)

        np.testing.assert_array_equal(call(jax.numpy.asarray(X)), 3 * X)
        np.testing.assert_array_equal(jax.jit(call)(X), 3 * X)
        np.testing.assert_array_equal(jax.vmap(call)(np.stack([X, 2 * X])), np.stack([3 * X, 6 * X]))
        if kind == 0:
            np.testing.assert_array_equal(jax.grad(lambda v: call(v).sum())(X), np.full((2, 3), 3.0))


@pytest.mark.parametrize("name, options", [("_ops", []), ("torch", ["--torch"]), ("jax", ["--jax"]), ("_torch", ["--torch"])])
def test_an_op_with_the_name_of_a_module_of_the_package_is_rejected(root, tmp_path, name, options):
    (tmp_path / "one.cc").write_text(HEAD + f'KERNKIT_EXPORT({name}, "(Tensor grad_x[n], Tensor grad_y[n], int k) -> ()", "", probe::backward)\n')
    library = compiled.build(tmp_path / "one.cc", tmp_path / "libone.so", "-fvisibility=hidden", "-O0")
    command = [sys.executable, "-m", "kernkit", "bindings", str(library), "--package", "p", "--output", str(tmp_path / "p"), *options]
    result = subprocess.run(command, cwd=root / "sdk/python", capture_output=True, text=True)
    assert result.returncode == 3
    assert result.stderr == (f"kernkit: op {name} has the name of the module p.{name}, which kernkit bindings writes; choose another name in "
                             "KERNKIT_EXPORT\n")  # fmt: skip


def test_a_name_that_torch_keeps_is_no_operator(root, tmp_path):
    (tmp_path / "kept.cc").write_text(HEAD + 'KERNKIT_EXPORT(name, "(Tensor(out!) y[n], Tensor x[n], int k) -> ()", "", probe::backward)\n')
    library = compiled.build(tmp_path / "kept.cc", tmp_path / "libkept.so", "-fvisibility=hidden", "-O0")
    packages.write_package(root, library, tmp_path, "kept", "--torch")
    text = (tmp_path / "kept/_torch.py").read_text()
    assert "# No operator of torch: torch.ops.kept.name is an attribute of each namespace of torch." in text
    if importlib.util.find_spec("torch"):
        packages.imported(tmp_path, "kept.torch")
