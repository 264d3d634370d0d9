# SPDX-License-Identifier: Apache-2.0
"""Calls the op of each row of frameworks/value_table.py from every supported caller, with NumPy as reference."""

import importlib
import re

import compiled
import numpy as np
import packages
import pytest
import tvm_ffi
from frameworks import value_table as table
from lines import shape_text
from xla_frames import Handler

BATCH = 3


@pytest.fixture(scope="session")
def valued(root, tmp_path_factory):
    """Returns the folder of package `valued`, which has the ops of the table."""
    folder = tmp_path_factory.mktemp("values")
    source, library = folder / "values.cc", folder / "libvalued.so"
    source.write_text(table.source())
    compiled.build(source, library, "-fvisibility=hidden", "-O0")
    packages.write_package(root, library, folder, "valued", "--frameworks")
    return folder


class Caller:
    """Calls ops with NumPy arrays. Each framework has a subclass."""

    def tensor(self, array):
        return array.copy()

    def dtype(self, name):
        return name

    def device(self, name):
        return name

    def array(self, value):
        return value if isinstance(value, np.ndarray) else np.from_dlpack(value)

    def value(self, parameter, argument):
        if argument is None:
            return None
        if isinstance(argument, list):
            return [self.value(parameter, item) for item in argument]
        convert = {"Tensor": self.tensor, "ScalarType": self.dtype, "Device": self.device}.get(parameter.type)
        return convert(argument) if convert else argument

    def values(self, op, arguments):
        return {v.name: self.value(v, arguments[v.name]) for v in op.parameters if v.name in arguments}

    def arrays(self, outputs):
        return {name: [self.array(x) for x in value] if isinstance(value, list) else self.array(value)
                for name, value in outputs.items()}  # fmt: skip


def call(function, parameters, values):
    """Calls the function with the given values. Parameters before the first parameter without a value are passed by
    position, later parameters by keyword."""
    is_passed = [v.name in values for v in parameters] + [False]
    first = is_passed.index(False)
    return function(*(values[v.name] for v in parameters[:first]),
                    **{v.name: values[v.name] for v in parameters[first:] if v.name in values})  # fmt: skip


def named(outputs, result):
    """Converts a function's result to {output: value}."""
    results = list(result) if len(outputs) > 1 else [result]
    assert len(results) == len(outputs)
    return dict(zip((v.name for v in outputs), results))


def run_default(caller, function, op, arguments):
    """Calls the op in its declared form and returns {output: value}."""
    values = caller.values(op, arguments)
    result = call(function, op.parameters, values)
    outputs = {v.name: values[v.name] for v in op.parameters if v.is_written and values.get(v.name) is not None}
    return {**outputs, **(named(op.results, result) if op.results else {})}


def chosen(op, arguments):
    """Returns the additional sizes and dtypes that a caller passes to a form that allocates the outputs."""
    texts = " ".join(map(shape_text, op.parameters))
    sizes = {name: table.SIZES[name] for name in re.findall(r"(\w+)\?", texts)}
    return {**sizes, **{f"{v.name}_dtype": str(arguments[v.name].dtype) for v in op.parameters if v.has_any_dtype}}


def check(name, arguments, actual):
    expected = table.expected(name, arguments)
    assert actual.keys() == expected.keys()
    for output, value in expected.items():
        pairs = zip(actual[output], value) if isinstance(value, list) else [(actual[output], value)]
        for got, reference in pairs:
            assert (got.dtype, got.shape) == (reference.dtype, reference.shape), output
            np.testing.assert_array_equal(got, reference, err_msg=output)


def supported(name, caller):
    """Skips the test if the row of the table excludes the caller."""
    if caller in table.ROWS[name].without.split():
        pytest.skip("the row of the table excludes this caller")


def written_in_place(op):
    return [v for v in op.parameters if v.is_written and not v.is_only_written]


# Tests of the plain functions, called with NumPy arrays.


class Numpy(Caller):
    def device(self, name):
        return tvm_ffi.device(name)


@pytest.fixture(scope="module")
def plain(valued):
    return packages.imported(valued, "valued")


@pytest.mark.parametrize("name", table.ROWS)
def test_plain(plain, name):
    supported(name, "plain")
    op = table.op_of(name)
    for case, arguments in table.cases(name).items():
        for _ in range(2):  # the second call uses the table that the op kept
            result = run_default(Numpy(), getattr(plain, name), op, arguments)
            check(name, arguments, Numpy().arrays(result))


# PyTorch.


class Torch(Caller):
    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def tensor(self, array):
        return self.torch.from_numpy(array.copy())

    def dtype(self, name):
        return getattr(self.torch, name)

    def device(self, name):
        return self.torch.device(name)

    def array(self, value):
        return value.detach().numpy()


@pytest.fixture(scope="module")
def torch_valued(valued):
    """Returns torch.ops.valued."""
    ops = pytest.importorskip("torch").ops
    packages.imported(valued, "valued.torch")
    return ops.valued


def forms(ops, name):
    """Returns {form: f(caller, op, arguments, around)} for the overloads of an operator; `around` transforms the
    overload before the call."""
    packet = getattr(ops, name)

    def default(caller, op, arguments, around=lambda f: f):
        return run_default(caller, around(packet.default), op, arguments)

    def functional(caller, op, arguments, around=lambda f: f):
        inputs = [v for v in op.parameters if not v.is_only_written]
        values = {k: v for k, v in caller.values(op, arguments).items() if k in {v.name for v in inputs}}
        more = {k: caller.dtype(v) if k.endswith("_dtype") else v for k, v in chosen(op, arguments).items()}
        result = call(around(lambda *a, **k: packet.functional(*a, **k, **more)), inputs, values)
        return {**{v.name: values[v.name] for v in written_in_place(op)}, **named([v for v in op.parameters if v.is_only_written], result)}

    return {"default": default, **({"functional": functional} if "functional" in packet.overloads() else {})}


@pytest.mark.parametrize("name", table.ROWS)
def test_torch_eager(torch_valued, plain, name):
    """The operator, its functional form and the plain function give the table's values, called eagerly with torch's
    tensors."""
    supported(name, "torch_eager")
    op, caller = table.op_of(name), Torch()
    for arguments in table.cases(name).values():
        for run in forms(torch_valued, name).values():
            check(name, arguments, caller.arrays(run(caller, op, arguments)))
        of_plain = type("Plain", (Torch,), {"device": lambda self, text: tvm_ffi.device(text), "array": lambda self, x: self.torch.from_dlpack(x).numpy()})()
        check(name, arguments, of_plain.arrays(run_default(of_plain, getattr(plain, name), op, arguments)))


def compiled_values(torch_valued, plain, name, backend):
    op, caller = table.op_of(name), Torch()
    torch = caller.torch

    def around(function):
        torch._dynamo.reset()
        return torch.compile(function, fullgraph=True, backend=backend)

    for arguments in table.cases(name).values():
        for run in forms(torch_valued, name).values():
            check(name, arguments, caller.arrays(run(caller, op, arguments, around)))
        in_graph = around(lambda *a, **k: getattr(plain, name)(*a, **k))
        check(name, arguments, caller.arrays(run_default(caller, in_graph, op, arguments)))


@pytest.mark.slow
@pytest.mark.parametrize("name", table.ROWS)
def test_torch_compiled(torch_valued, plain, name):
    """The operator, its functional form and the plain function give the table's values in a graph of torch.compile with
    the backend aot_eager, which generates no code."""
    supported(name, "torch_compiled")
    compiled_values(torch_valued, plain, name, "aot_eager")


@pytest.mark.slow
@pytest.mark.parametrize("name", table.ROWS)
def test_torch_inductor(torch_valued, plain, name, monkeypatch):
    supported(name, "torch_compiled")
    monkeypatch.setenv("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
    compiled_values(torch_valued, plain, name, "inductor")


def batches(op, arguments):
    """Yields (names, calls): the names of the tensors that differ between the calls of a batch (all inputs, or only the
    first), and the arguments of BATCH calls."""
    read = [v for v in op.parameters if v.type == "Tensor" and not v.is_list and arguments.get(v.name) is not None]
    first = next(v for v in read if not v.is_only_written)
    for batched in ([v for v in read], [v for v in read if v is first or v.is_written]):
        names = {v.name for v in batched}
        yield names, [{k: x + b * (not np.any(x == 77)) if k in names else x for k, x in arguments.items()} for b in range(BATCH)]


def stacked(name, calls):
    """Returns the values of all calls, stacked along a new first axis."""
    expected = [table.expected(name, arguments) for arguments in calls]
    return {k: np.stack([w[k] for w in expected]) for k in expected[0]}


def check_batch(name, calls, actual):
    expected = stacked(name, calls)
    assert actual.keys() == expected.keys()
    for output, value in expected.items():
        got = np.broadcast_to(actual[output], value.shape) if actual[output].shape != value.shape else actual[output]
        assert got.dtype == value.dtype
        np.testing.assert_array_equal(got, value, err_msg=output)


@pytest.mark.parametrize("name", table.ROWS)
def test_torch_vmap(torch_valued, name):
    """Forms that return their outputs give the table's values under vmap, with the batch as the first dimension of each
    tensor."""
    supported(name, "torch_vmap")
    op, caller = table.op_of(name), Torch()
    run = forms(torch_valued, name).get("default" if op.results else "functional")
    if run is None or written_in_place(op) or any(v.is_list for v in op.parameters):
        pytest.skip("the op writes its arguments in place, or takes a list")
    for arguments in table.cases(name).values():
        for names, calls in batches(op, arguments):
            joined = {k: np.stack([c[k] for c in calls]) if k in names else v for k, v in arguments.items()}

            def around(function):
                def mapped(*passed, **options):
                    all_arguments = {**dict(enumerate(passed)), **options}
                    order = [v for v in op.parameters if not v.is_only_written]
                    dims = {i: 0 if v.name in names else None for i, v in enumerate(order)} | {
                        v.name: 0 if v.name in names else None for v in order}  # fmt: skip
                    tensors = [k for k, v in all_arguments.items() if isinstance(v, caller.torch.Tensor)]

                    def inner(*tensors_passed):
                        now = {**all_arguments, **dict(zip(tensors, tensors_passed))}
                        return function(*(now[i] for i in range(len(passed))), **{k: now[k] for k in options})

                    return caller.torch.vmap(inner, tuple(dims[k] for k in tensors))(*(all_arguments[k] for k in tensors))

                return mapped

            check_batch(name, calls, caller.arrays(run(caller, op, joined, around)))


def lazy_tensors(torch):
    """Returns tensors whose values depend on flags that DLPack does not export."""
    x = torch.tensor([1 + 2j, 3 - 4j])
    return {"conjugate": x.conj(), "negative": torch._neg_view(torch.tensor([1.0, 2.0])), "imag": x[:1].conj().imag,
            "parameter": torch.nn.Parameter(x.conj(), requires_grad=False)}  # fmt: skip


@pytest.mark.parametrize("kind", ["conjugate", "negative", "imag", "parameter"])
def test_lazy_tensors_are_resolved_where_they_are_read(torch_valued, plain, kind):
    torch = Torch().torch
    x = lazy_tensors(torch)[kind]
    assert x.is_conj() or x.is_neg()
    expected = x.resolve_conj().resolve_neg().tolist()

    def writing(op):
        def run(x):
            y = torch.zeros(x.shape, dtype=x.dtype)
            op(y, x)
            return y

        return run

    def graph(f):
        return torch.compile(f, fullgraph=True, backend="aot_eager")

    functional = torch_valued.copied.functional
    for run in (writing(plain.copied), writing(torch_valued.copied), functional, graph(functional), graph(writing(plain.copied)),
                graph(lambda x: functional(x.resolve_conj().resolve_neg().conj().conj())), torch.vmap(functional)):  # fmt: skip
        torch._dynamo.reset()
        assert run(x).tolist() == expected
    assert (x.is_conj() or x.is_neg()) and x.resolve_conj().resolve_neg().tolist() == expected


def test_lazy_tensors_of_a_list_are_resolved(torch_valued, plain):
    torch = Torch().torch
    lazy, y = torch._neg_view(torch.tensor([1.0, 2.0])), torch.zeros(2)
    for op in (plain.list_alike, torch_valued.list_alike):
        op(y, [torch.ones(2), lazy])
        assert y.tolist() == [1 - 2, 1 - 4]
    items = (np.ones(2, "float32"), np.ones(2, "float32"))
    plain.list_alike(y, items)
    assert y.tolist() == [3, 3]


@pytest.mark.parametrize("kind", ["conjugate", "negative", "imag", "parameter"])
def test_lazy_tensors_are_not_written(torch_valued, plain, kind):
    torch = Torch().torch
    y = lazy_tensors(torch)[kind]
    before, x = y.tolist(), torch.ones(y.shape, dtype=y.dtype)
    for copied in (plain.copied, torch_valued.copied):
        with pytest.raises(ValueError, match=r"copied\(\): y: is lazily conjugate or negative"):
            copied(y, x)
    with pytest.raises(RuntimeError, match=r"copied\(\): y: is lazily conjugate or negative"):
        torch.compile(torch_valued.copied.default, fullgraph=True, backend="aot_eager")(y, x)
    if not y.is_complex():
        for op, arguments in (("in_place", (y, 2.0)), ("list_out", ([torch.zeros(3), y], torch.ones(3)))):
            for ops in (plain, torch_valued):
                with pytest.raises(ValueError, match=op + r"\(\): \w+: is lazily conjugate or negative"):
                    getattr(ops, op)(*arguments)
    assert y.tolist() == before


def test_an_empty_list_that_binds_a_size_is_an_error(torch_valued, plain):
    """An empty list whose first tensor would determine a size raises the op's error, also in a graph."""
    torch, ops = Torch().torch, torch_valued.list_and_optional
    w, expected = torch.zeros(3), r"list_and_optional\(\): xs: is empty, but m is determined by the first tensor"
    with pytest.raises(ValueError, match=expected):
        plain.list_and_optional(torch.zeros(2), [], None)
    with pytest.raises(ValueError, match=expected):
        ops(torch.zeros(2), [], None)
    with pytest.raises(RuntimeError, match=expected):
        ops.functional([], w)
    for call in (lambda w: ops.functional([], w), lambda w: ops(torch.zeros(2), [], w)):
        with pytest.raises(RuntimeError, match=expected):
            torch.compile(call, fullgraph=True, backend="aot_eager")(w)


# JAX.


class Jax(Caller):
    def tensor(self, array):
        return importlib.import_module("jax").numpy.asarray(array)

    def array(self, value):
        return np.asarray(value)


@pytest.fixture(scope="module")
def jax_valued(valued):
    """Yields the module valued.jax, with JAX's 64-bit types enabled."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield packages.imported(valued, "valued.jax")


def without_function(op):
    """Returns whether no JAX function is generated for the op: XLA supports no list parameters, and allocates all
    results before the call, so an output cannot be None."""
    outputs = [v for v in op.parameters if v.is_written]
    return any(v.is_list for v in op.parameters) or any(v.is_optional for v in outputs)


def run_jax(functions, name, arguments, around):
    op, caller = table.op_of(name), Jax()
    inputs = [v for v in op.parameters if not v.is_only_written]
    values = {k: v for k, v in caller.values(op, arguments).items() if k in {v.name for v in inputs}}
    tensors = {k: v for k, v in values.items() if hasattr(v, "ndim")}
    others = {**{k: v for k, v in values.items() if k not in tensors}, **chosen(op, arguments)}
    result = around(lambda passed: getattr(functions, name)(**passed, **others))(tensors)
    for k, before in tensors.items():
        # The call must not change JAX's arrays, which are immutable
        np.testing.assert_array_equal(before, arguments[k])
    return caller.arrays(named([v for v in op.parameters if v.is_written] + op.results, result))


@pytest.mark.parametrize("mode", ["eager", "jit"])
@pytest.mark.parametrize("name", table.ROWS)
def test_jax(jax_valued, name, mode):
    supported(name, f"jax_{mode}")
    if without_function(table.op_of(name)):
        assert not hasattr(jax_valued, name)
        return
    around = importlib.import_module("jax").jit if mode == "jit" else lambda f: f
    for arguments in table.cases(name).values():
        for _ in range(2):
            check(name, arguments, run_jax(jax_valued, name, arguments, around))


@pytest.mark.slow
@pytest.mark.parametrize("name", table.ROWS)
def test_jax_vmap(jax_valued, name):
    supported(name, "jax_vmap")
    op = table.op_of(name)
    if without_function(op):
        pytest.skip("the op has no function for JAX")
    vmap = importlib.import_module("jax").vmap
    for arguments in table.cases(name).values():
        for names, calls in batches(op, arguments):
            joined = {k: np.stack([c[k] for c in calls]) if k in names else v for k, v in arguments.items()}

            def around(function):
                return lambda tensors: vmap(function, ({k: 0 if k in names else None for k in tensors},))(tensors)

            check_batch(name, calls, run_jax(jax_valued, name, joined, around))


def test_a_gpu_op_keeps_no_memory_of_xla(device):
    """The tensor that an op allocates in its first call and keeps is not in memory of XLA, which XLA may reuse. The
    test calls the handler for XLA with tensors of the simulator."""
    first = device.put(np.array([1, 2, 3], "float32"))
    for call in range(3):
        x = first if call == 0 else device.put(np.full(3, 7 + call, "float32"))
        y = device.put(np.zeros(3, "float32"))
        stream = device.module.new_stream()
        buffers = [[(tensor.data_ptr(), tensor.dtype, tensor.shape)] for tensor in (y, x)]
        Handler(device.library, "first_given", "cuda")(*buffers, stream=stream)
        assert device.get(y).tolist() == [1, 2, 3], call
        # Overwrites the memory of the result, as XLA may do after the call.
        device.module.copy(y, device.put(np.full(3, -1, "float32")))
        assert device.module.launches(stream) == 0  # without faults
