# SPDX-License-Identifier: Apache-2.0
"""The operators of PyTorch that `kernkit bindings --torch` writes: ./kk test --with torch."""

import copy
import gc
import importlib
import os
import subprocess
import sys

import packages
import pytest
from packages import write_package

torch = pytest.importorskip("torch")
# Overload sets that change meet the cache of another run.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
UTILITIES = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static",
             "test_aot_dispatch_dynamic")  # fmt: skip


@pytest.fixture(scope="module")
def ops(shaped):
    """torch.ops.shaped."""
    importlib.import_module("shaped.torch")
    return torch.ops.shaped


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


# Each overload, and arguments.
CASES = {
    "scale.functional": lambda: (normal(3, 4), 2.0),
    "scale.default": lambda: (normal(3, 4), normal(3, 4), 2.0),
    "scale_.default": lambda: (normal(3, 4), 2.0),
    "add.functional": lambda: (normal(3, 4), normal(3, 4)),
    "add.default": lambda: (normal(3, 4), normal(3, 4), normal(3, 4)),
    "silu_and_mul.functional": lambda: (normal(3, 8),),
    "silu_and_mul.default": lambda: (normal(3, 4), normal(3, 8)),
    "rms_norm.default": lambda: (normal(3, 8), normal(8), 1e-5),
    "rms_norm.default without weight": lambda: (normal(3, 8),),
    "rms_norm_out.functional": lambda: (normal(3, 8),),
    "rms_norm_out.default": lambda: (normal(3, 8), normal(3, 8), normal(8)),
    "fused_add_rms_norm.default": lambda: (normal(3, 8), normal(3, 8), normal(8)),
    "row_max.default": lambda: (normal(3, 8),),
    "sum_list.functional": lambda: ([normal(3, 8), normal(3, 8)],),
    "sum_list.default": lambda: (normal(3, 8), [normal(3, 8), normal(3, 8)]),
    "many.functional": lambda: (normal(3, 8), normal(3, 8), 2, 0.5, True, "abc", torch.float64),
    "many.default": lambda: (normal(3, 8), normal(3, 8), None, 2, 0.5, True, "abc", torch.float64),
    "output_last.functional": lambda: (2.0, normal(3, 8)),
    "quant.functional": lambda: (normal(3, 8), 4),
    "quant.default": lambda: (torch.empty(3, 8, dtype=torch.int8), normal(3, 2), normal(3, 8), 4),
}


def overload(ops, case):
    name, _, which = case.split(" ")[0].partition(".")
    return getattr(getattr(ops, name), which)


def tensors(arguments):
    return [a for a in arguments if isinstance(a, torch.Tensor)]


def flat(result):
    return [] if result is None else list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("case", CASES)
def test_opcheck(ops, case):
    found = torch.library.opcheck(overload(ops, case), CASES[case](), test_utils=UTILITIES)
    assert set(found.values()) == {"SUCCESS"}


def test_opcheck_of_the_reference_library(root, library, tmp_path):
    """Its lines say no shapes: the ops as they are declared."""
    write_package(root, library, tmp_path, "reference_ops", "--torch", "--torch-namespace", "other_name")
    sys.path.insert(0, str(tmp_path))
    importlib.import_module("reference_ops.torch")
    sys.path.remove(str(tmp_path))
    x = normal(3, 4)
    for op, arguments in ((torch.ops.other_name.scale.default, (x + 1, x, 2.0)),
                          (torch.ops.other_name.add.default, (x + 1, x, x - 1))):  # fmt: skip
        assert set(torch.library.opcheck(op, arguments, test_utils=UTILITIES).values()) == {"SUCCESS"}
    assert not hasattr(torch.ops.other_name.scale, "functional")


ROWS = {
    "rms_norm.functional": lambda: (normal(3, 8),),
    "rms_norm.functional with weight": lambda: (normal(3, 8), normal(8), 1e-5),
    "rms_norm.default": lambda: (normal(3, 8), normal(3, 8), normal(8)),
    "layer_norm.functional": lambda: (normal(3, 8), normal(8), normal(8)),
    "layer_norm.default": lambda: (normal(3, 8), normal(3, 8)),
    "fused_add_rms_norm.functional": lambda: (normal(3, 8), normal(3, 8) + 1, normal(8)),
    "fused_add_rms_norm.default": lambda: (normal(3, 8), normal(3, 8), normal(3, 8), normal(3, 8) + 1),
    "softmax.functional": lambda: (normal(3, 8),),
    "softmax.default": lambda: (normal(3, 8), normal(3, 8)),
    "gelu_and_mul.functional": lambda: (normal(3, 8),),
    "gelu_and_mul.default": lambda: (normal(3, 4), normal(3, 8)),
    "rms_norm_fp8.functional": lambda: (normal(3, 8), normal(8)),
}


@pytest.fixture(scope="module")
def row_ops(rows):
    """torch.ops.on_rows."""
    importlib.import_module("on_rows.torch")
    return torch.ops.on_rows


@pytest.mark.parametrize("case", ROWS)
def test_opcheck_of_the_kernels_of_rows(row_ops, case):
    found = torch.library.opcheck(overload(row_ops, case), ROWS[case](), test_utils=UTILITIES)
    assert set(found.values()) == {"SUCCESS"}


def test_functional_forms_of_the_kernels_of_rows(row_ops):
    x, w, b = normal(3, 8), normal(8), normal(8) + 1
    gelu = torch.nn.functional.gelu(x[:, :4]) * x[:, 4:]
    added = x + w
    pairs = [
        (row_ops.rms_norm.functional(x, w), reference_rms(x, w)), (row_ops.softmax.functional(x), x.softmax(-1)),
        (row_ops.layer_norm.functional(x, w, b), torch.nn.functional.layer_norm(x, (8,), w, b)),
        (row_ops.gelu_and_mul.functional(x), gelu),
        (row_ops.fused_add_rms_norm.functional(x, w.expand(3, 8).contiguous(), b), (reference_rms(added, b), added)),
    ]  # fmt: skip
    for got, wanted in pairs:
        torch.testing.assert_close(got, wanted)


def test_what_is_registered_for_cuda_works_on_the_callers_stream(row_ops, device, monkeypatch):
    """Called as torch's dispatcher does, but with tensors of CUDA on the CPU, which torch has none of."""
    written = importlib.import_module("on_rows._torch")
    assert torch._C._dispatch_has_kernel_for_dispatch_key("on_rows::rms_norm", "CUDA")
    marked = []
    monkeypatch.setattr(written, "_kk_wrote", marked.extend)
    x, w = normal(3, 8), normal(8)
    y, on_device = device.put(torch.zeros(3, 8).numpy()), [device.put(t.numpy()) for t in (x, w)]
    with torch.no_grad():
        assert device.calls(lambda: written._kk_rms_norm_kernel(y, *on_device)) == 1
    torch.testing.assert_close(torch.from_numpy(device.get(y)), reference_rms(x, w))
    assert marked == [y]


def test_ops_on_a_gpu(root, library, tmp_path):
    """torch's own tensors and streams."""
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    write_package(root, library, tmp_path, "on_gpu_ops", "--torch")
    sys.path.insert(0, str(tmp_path))
    importlib.import_module("on_gpu_ops.torch")
    sys.path.remove(str(tmp_path))
    scale, stream = torch.ops.on_gpu_ops.scale, torch.cuda.Stream()
    x = torch.arange(1 << 20, device="cuda", dtype=torch.float32)

    def twice(x):
        y, z = torch.empty_like(x), torch.empty_like(x)
        scale(y, x, 2.0)
        scale(z, y, 2.0)
        return z + 1

    for run in (twice, torch.compile(twice, fullgraph=True)):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)
            got = run(x)
            assert not stream.query()
        stream.synchronize()
        torch.testing.assert_close(got, 4 * x + 1)


@pytest.mark.parametrize("case", CASES)
def test_meta_tensors_run_no_kernel(ops, case):
    """And give the shapes, dtypes and strides that the kernel gives."""
    op, arguments = overload(ops, case), CASES[case]()
    wanted = op(*copy.deepcopy(arguments))

    def meta(value):
        if isinstance(value, list):
            return [x.to("meta") for x in value]
        return value.to("meta") if isinstance(value, torch.Tensor) else value

    got = op(*map(meta, arguments))
    assert [(t.shape, t.dtype, t.stride(), t.device.type) for t in flat(got)] == [
        (t.shape, t.dtype, t.stride(), "meta") for t in flat(wanted)
    ]


@pytest.mark.all
@pytest.mark.parametrize("backend, dynamic", [("aot_eager", True), ("inductor", True), ("inductor", False)])
def test_one_graph_has_them_all(ops, row_ops, backend, dynamic):
    """What is written is read after. A second call with the sizes of the first compiles nothing."""
    cases = {(who, case): make for who, of in ((ops, CASES), (row_ops, ROWS)) for case, make in of.items()}

    def run(arguments):
        results = []
        for (who, case), given in zip(cases, arguments):
            result = overload(who, case)(*given)
            results.append((result, [t.float() * 2 + 1 for t in tensors(given)]))
        return results

    eager = [make() for make in cases.values()]
    traced, again = copy.deepcopy(eager), copy.deepcopy(eager)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    wanted = run(eager)
    compiled = torch.compile(run, backend=backend, fullgraph=True, dynamic=dynamic)
    for arguments in (traced, again):
        torch.testing.assert_close(compiled(arguments), wanted)
        for mine, theirs in zip(arguments, eager):
            torch.testing.assert_close(tensors(mine), tensors(theirs))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


@pytest.mark.parametrize("dynamic, compilations", [(None, 2), (True, 1)])
def test_six_sizes_compile_seldom(ops, dynamic, compilations):
    count = 0

    def backend(graph, _):
        nonlocal count
        count += 1
        return graph.forward

    def f(x):
        return ops.quant.functional(ops.silu_and_mul.functional(x), 4)[1] + 1

    torch._dynamo.reset()
    traced = torch.compile(f, backend=backend, fullgraph=True, dynamic=dynamic)
    for n in (3, 5, 7, 11, 13, 17):
        x = normal(n, 8 * n)
        torch.testing.assert_close(traced(x), f(x))
    assert count == compilations


def test_plain_functions_are_the_operators_in_a_graph(plain, ops):
    def f(x):
        y = torch.empty(x.shape[0], x.shape[1] // 2)
        plain.silu_and_mul(y, x)
        plain.scale_(y, 0.5)
        return plain.rms_norm(y, eps=1e-5) + 1

    seen = []

    def backend(graph, _):
        seen.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    torch._dynamo.reset()
    x = normal(3, 8)
    torch.testing.assert_close(torch.compile(f, fullgraph=True, dynamic=True, backend=backend)(x), f(x))
    assert {"shaped.silu_and_mul.default", "shaped.scale_.default", "shaped.rms_norm.default"} <= set(seen)


@pytest.mark.all
def test_views_and_what_lies_otherwise_are_right_in_a_graph(ops):
    def f(x):
        y = torch.zeros(4, 6)
        ops.scale(y[1:3], x[1:3], 3.0)
        return y, ops.scale.functional(x.t(), 2.0), ops.silu_and_mul.functional(x.t())

    x = normal(4, 6)
    torch._dynamo.reset()
    y = torch.zeros(4, 6)
    y[1:3] = 3 * x[1:3]
    d = x.t()
    wanted = (y, 2 * x.t(), torch.nn.functional.silu(d[:, :2]) * d[:, 2:])
    torch.testing.assert_close(torch.compile(f, fullgraph=True)(x), wanted)


def test_a_gradient_is_never_silently_wrong(ops):
    x, y, w = normal(3, 8), normal(3, 4), normal(3, 4).requires_grad_()
    z = (w * y).sum()
    ops.silu_and_mul(y, x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    asks = normal(3, 8).requires_grad_()
    refused = [
        (lambda: ops.silu_and_mul(w, x), r"silu_and_mul\(\): what is written has no gradient"),
        (lambda: ops.silu_and_mul(y, asks), r"silu_and_mul\(\): what is written has no gradient"),
        (lambda: ops.row_max(asks), r"row_max\(\): has no gradient that torch knows"),
        (lambda: ops.scale.functional(asks, 2.0), r"scale\(\): has no gradient that torch knows"),
        (lambda: ops.sum_list.functional([x, asks]), r"sum_list\(\): has no gradient"),
    ]
    for call, message in refused:
        with pytest.raises(RuntimeError, match=message):
            call()
        torch._dynamo.reset()
        with pytest.raises(Exception, match=message):
            torch.compile(call, fullgraph=True, backend="aot_eager")()
        with torch.no_grad():
            call()


def reference_silu(x):
    d = x.shape[-1] // 2
    return torch.nn.functional.silu(x[..., :d]) * x[..., d:]


@pytest.mark.all
def test_a_training_step_through_compile_equals_torchs(shaped, root, tmp_path):
    """In a process of its own, where nobody called before."""
    program = """
import torch, test_torch_ops as t, shaped.torch
ops = torch.ops.shaped
w = t.normal(6, 8)
def step(f, compile):
    weight = w.clone().requires_grad_()
    def loss(x): return (f(x @ weight) ** 2).sum()
    (torch.compile(loss, fullgraph=True, backend="aot_eager") if compile else loss)(t.normal(3, 6)).backward()
    with torch.no_grad(): weight -= 0.1 * weight.grad
    return weight.detach()
wanted = step(t.reference_silu, False)
for compile in (False, True):
    torch._dynamo.reset()
    torch.testing.assert_close(step(ops.silu_and_mul.functional, compile), wanted)
"""
    path = os.pathsep.join([str(shaped), str(root / "tests/interop")])
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def reference_rms(x, weight=None, eps=1e-6):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)


@pytest.mark.parametrize("with_weight", [False, True])
def test_gradients_of_the_named_backward_are_torchs(ops, with_weight):
    """Also where the gradient that arrives is not contiguous, as that of a sum."""
    def gradients(f):
        x, weight = normal(3, 8).requires_grad_(), normal(8).requires_grad_() if with_weight else None
        f(x, weight, 1e-3).sum().backward()
        return [x.grad, weight.grad if with_weight else None]

    for op in (ops.rms_norm_out.functional, ops.rms_norm):
        for got, wanted in zip(gradients(op), gradients(reference_rms)):
            torch.testing.assert_close(got, wanted)
    x, weight = normal(3, 8).requires_grad_(), normal(8).requires_grad_()
    for op, arguments in ((ops.rms_norm_out.functional, (x, weight)), (ops.rms_norm.default, (x, weight)),
                          (ops.silu_and_mul.functional, (x,))):  # fmt: skip
        assert set(torch.library.opcheck(op, arguments, test_utils=UTILITIES).values()) == {"SUCCESS"}


def test_vmap_is_one_call_where_a_batch_may_stand_in_front(ops, plain):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            Count.calls += "shaped" in str(function)
            return function(*args, **(kwargs or {}))

    x, y = normal(5, 3, 4), normal(3, 4)
    with Count():
        got = torch.vmap(lambda x: ops.add.functional(x, y), in_dims=0)(x)
    torch.testing.assert_close(got, x + y)
    assert Count.calls == 1
    torch.testing.assert_close(torch.vmap(lambda x: ops.scale.functional(x, 2.0), in_dims=1)(x), 2 * x.transpose(0, 1))
    nested = torch.vmap(torch.vmap(lambda x: ops.scale.functional(x, 3.0)))(x)
    torch.testing.assert_close(nested, 3 * x)


@pytest.mark.filterwarnings("ignore::UserWarning")  # that it is a loop
def test_vmap_of_others_is_right(ops):
    x = normal(5, 3, 8)
    torch.testing.assert_close(torch.vmap(ops.silu_and_mul.functional)(x), reference_silu(x))


@pytest.mark.all
def test_export_and_reload_with_a_size_that_varies(ops, tmp_path):
    class Model(torch.nn.Module):
        def forward(self, x):
            return ops.silu_and_mul.functional(x) + 1

    n = torch.export.Dim("n", min=2)
    exported = torch.export.export(Model(), (normal(3, 8),), dynamic_shapes={"x": {0: n}})
    torch.export.save(exported, tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    for size in (2, 5):
        torch.testing.assert_close(loaded(normal(size, 8)), reference_silu(normal(size, 8)) + 1)


@pytest.mark.parametrize("shape", [(7,), (3, 7)])
def test_a_wrong_shape_has_the_words_of_the_op(ops, shape):
    message = r"silu_and_mul\(\): x: shape \[[\d, ]+\] does not match \[n, 2 \* d\]"
    y = normal(3, 4)
    for call in (ops.silu_and_mul.functional, lambda x: ops.silu_and_mul(y, x)):
        with pytest.raises((RuntimeError, ValueError), match=message):
            call(normal(*shape))
        torch._dynamo.reset()
        with pytest.raises(Exception, match=message):
            torch.compile(call, fullgraph=True, backend="aot_eager")(normal(*shape))
    with pytest.raises(Exception, match=r"y: shape \[3, 3\] does not match \[n, d\]"):
        torch.compile(ops.silu_and_mul, fullgraph=True, backend="aot_eager")(normal(3, 3), normal(3, 8))


def test_a_size_that_does_not_divide_is_refused(ops, plain):
    q, s, x = torch.empty(3, 8, dtype=torch.int8), normal(3, 2), normal(3, 8)
    with pytest.raises(ValueError, match=r"s: shape \[3, 2\] does not match \[n, d / group\] with n = 3 \(bound by x\)"):
        plain.quant(q, s, x, 3)
    with pytest.raises(RuntimeError, match=r"quant\(\): s: d / group is no whole number"):
        ops.quant.functional(x, 3)


def test_the_page_shows_how(shaped):
    # [use]
    import torch

    import shaped.torch  # torch.ops.shaped

    @torch.compile(fullgraph=True, backend="aot_eager")
    def gated(x):
        return torch.ops.shaped.silu_and_mul.functional(x) + 1
    # [/use]

    torch.testing.assert_close(gated(normal(3, 8)), reference_silu(normal(3, 8)) + 1)


def test_who_calls_says_what_the_line_asks(ops):
    values, indices = ops.top.functional(normal(3, 8), k=2)
    assert values.shape == (3, 2) and indices.dtype == torch.int32


def test_words_of_python_and_defaults_that_torch_cannot_say(ops, plain):
    x = normal(4)
    assert torch.equal(ops.odd.functional(x), x * float("inf"))
    assert torch.equal(ops.odd.functional(x, 2.0), x * 2)


def test_what_is_no_operator(plain, ops):
    assert plain.total(torch.ones(3)) == 3.0
    assert not hasattr(ops, "total")


def test_a_fake_tensor_given_to_a_plain_function_is_refused(plain):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.empty(3, 8)
    with pytest.raises(ValueError, match=r"silu_and_mul\(\): [xy]: data is null"):
        plain.silu_and_mul(torch.empty(3, 4), fake)


def test_the_operators_outlive_every_name_of_theirs(ops):
    gc.collect()
    torch.testing.assert_close(torch.ops.shaped.scale.functional(torch.ones(2), 2.0), torch.full((2,), 2.0))
    torch.ops.shaped.scale_(torch.ones(2), 2.0)


def test_inference_tensors_are_written(ops):
    with torch.inference_mode():
        y = torch.zeros(3)
        ops.scale(y, torch.ones(3), 2.0)
        assert y.tolist() == [2, 2, 2]


def test_import_needs_no_framework(shaped, tmp_path):
    """The package itself, with torch and jax out of reach."""
    program = """
import sys
sys.modules["torch"] = sys.modules["jax"] = None
import numpy, shaped
y = numpy.zeros(3, "float32")
shaped.scale(y, numpy.ones(3, "float32"), 2.0)
assert y.tolist() == [2, 2, 2]
for module in ("torch", "jax"):
    try:
        __import__("shaped." + module)
    except ImportError as error:
        print(error)
"""
    env = {**os.environ, "PYTHONPATH": str(shaped), "TVM_FFI_DISABLE_TORCH_C_DLPACK": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, cwd=tmp_path)
    torch_said, jax_said = done.stdout.splitlines() or [done.stderr, ""]
    assert torch_said.startswith("shaped.torch needs PyTorch, which cannot be imported: ")
    assert torch_said.endswith("; type: pip install torch")
    assert jax_said.startswith("shaped.jax needs JAX and jax-tvm-ffi, which cannot be imported: ")


def test_an_option_that_names_no_namespace_is_refused(root, library, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "kernkit", "bindings", str(library), "--package", "p", "--output", str(tmp_path), "--torch",
         "--torch-namespace", "a-b"],
        cwd=root / "sdk/python", capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 3 and done.stderr == 'kernkit: "a-b" is no namespace of torch.ops\n'


@pytest.mark.slow
def test_calls_are_cheap_beside_torchs(shaped, root, tmp_path):
    print(packages.ratios(root, shaped, "torch", tmp_path))
