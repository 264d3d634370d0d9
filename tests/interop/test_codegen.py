# SPDX-License-Identifier: Apache-2.0
"""Tests the text generated for PyTorch and JAX, without importing either framework, in cases that the libraries of
other tests do not cover."""

import pathlib

import pytest
from kernkit.codegen.frameworks import jax_ops, torch_ops
from kernkit.codegen.frameworks.shapes import Shapes
from lines import parse, parse_all


def of_torch(*lines, **backwards):
    """Returns the generated text for these schema lines, without the part that is the same in all modules."""
    text = torch_ops.source("package", "lib.so", "space", parse_all(lines), backwards)
    return text.split("\n    return count\n")[1]


@pytest.fixture
def of_jax(monkeypatch):
    def written(*lines, exported=None, **backwards):
        ops = parse_all(lines)
        names = {f"kernkit_xla_cpu_{op.name}" for op in ops} if exported is None else exported
        monkeypatch.setattr(jax_ops, "exported_symbols", lambda library: names)
        monkeypatch.setattr(jax_ops, "read_named", lambda library, section: {})
        text = jax_ops.source("package", pathlib.Path("lib.so"), ops, backwards)
        return text.split("\n    return count\n")[1]

    return written


def test_defaults_are_as_torchs_parser_reads_them():
    text = of_torch("""op(Tensor x, ScalarType? t=None, int k=-0, int m=12, str s='a"b\\\\', float f=inf, float g=2,"""
                    """ ScalarType u=float32, bool b=True) -> ()""")  # fmt: skip
    assert (r"""op(Tensor x, ScalarType? t=None, int k=0, int m=12, str s=\'a"b\\134\\134\', float? f=None, float g=2.0,"""
            """ ScalarType u=6, bool b=True) -> ()""") in text  # fmt: skip
    assert r"str s='ä\\011'" in of_torch("op(Tensor x, str s='ä\t') -> ()")
    assert "t=None, k=-0, m=12" in text and "u=__kk_torch.float32" in text
    assert '__kk_float("inf") if f is None else f' in text
    assert "Scalar? f=1j" in of_torch("op(Tensor x, float? f=inf) -> ()")


def test_devices_that_may_be_none():
    assert "__kk_bare_of_op(x, __kk_tvm_ffi.device(__kk_str(d)))" in of_torch("op(Tensor x, Device d) -> ()")
    assert "__kk_bare_of_op(x, None if d is None else __kk_tvm_ffi.device(__kk_str(d)))" in of_torch("op(Tensor x, Device? d) -> ()")


def test_writes_are_recorded_if_the_output_is_given():
    text = of_torch("op(Tensor(a!)? w, Tensor(b!)[] ys, Tensor(c!)[]? zs, Tensor x, Tensor(d!) y) -> ()")
    assert "    __kk_wrote((*ys, y,))\n    if w is not None:\n        __kk_wrote((w,))\n    if zs is not None:\n        __kk_wrote((*zs,))\n" in text
    assert ("(w is not None and w.requires_grad) or __kk_any(__kk_e.requires_grad for __kk_e in ys) or "
            "__kk_any(__kk_e.requires_grad for __kk_e in zs or ()) or x.requires_grad") in text  # fmt: skip
    assert "__kk_wrote" not in of_torch("op(Tensor x) -> ()")


def test_an_op_without_tensors_has_no_gradient():
    assert "__kk_grad()" not in of_torch("op(int n) -> ()")


@pytest.mark.parametrize(
    "line, why",
    [("op(Tensor x, bytes b) -> ()", "torch has no type bytes"),
     ("op(Tensor x, ScalarType t=float4_e2m1fn) -> ()", "torch has no dtype float4_e2m1fn, the default of t"),
     ("op(Tensor x) -> int", "a result that is not a tensor would break the graph of torch.compile"),
     ("op(Tensor x) -> Tensor[]", "a result is optional, a list, or without a shape in the schema line"),
     ("op(Tensor x) -> Tensor?", "a result is optional, a list, or without a shape in the schema line"),
     ("op(Tensor x[n]) -> Tensor[] y[n]", "a result is optional, a list, or without a shape in the schema line"),
     ("op(Tensor x[n]) -> Tensor? y[n]", "a result is optional, a list, or without a shape in the schema line"),
     ("op(Tensor x) -> Tensor", "a result is optional, a list, or without a shape in the schema line"),
     ("op(Tensor x[n]) -> Tensor y[n]: ?", "the schema line does not determine the dtype of a result"),
     ("op(int n) -> Tensor y[n]: float32", "no tensor determines the device of the results")],
)  # fmt: skip
def test_why_torch_has_no_operator(line, why):
    assert of_torch(line) == f"\n\n# {line}\n# No operator of torch: {why}.\n"


@pytest.mark.parametrize(
    "line, why",
    [("op(Tensor x) -> ()", "the op has neither a written tensor nor a result"),
     ("op(Tensor x) -> int", "a result is not a tensor, or is an optional tensor or a list"),
     ("op(Tensor x[n]) -> Tensor[] y[n]", "a result is not a tensor, or is an optional tensor or a list"),
     ("op(Tensor x[n]) -> Tensor? y[n]", "a result is not a tensor, or is an optional tensor or a list"),
     ("op(Tensor x) -> Tensor", "the schema line has no shape of a result, or does not determine the dtype of a result"),
     ("op(Tensor x[n]) -> Tensor y[n]: ?", "the schema line has no shape of a result, or does not determine the dtype of a result"),
     ("op(Tensor x[n], Tensor(out!) y[n], bytes b) -> ()", "XLA does not support the type bytes"),
     ("op(Tensor[] xs[n], Tensor(out!) y[n]) -> ()", "XLA does not support the type Tensor[]"),
     ("op(Tensor x[n], Tensor(out!)? y[n]) -> ()", "the output y is optional, or has no shape in the schema line"),
     ("op(Tensor x[n], Tensor(a!)? y[n]) -> ()", "the output y is optional, or has no shape in the schema line"),
     ("op(Tensor x[n], Tensor(out!) y) -> ()", "the output y is optional, or has no shape in the schema line")],
)  # fmt: skip
def test_why_jax_has_no_function(of_jax, line, why):
    assert of_jax(line) == f"\n\n# {line}\n# No function for JAX: {why}.\n"


def test_jax_needs_a_handler_in_the_library(of_jax):
    line = "op(Tensor x[n], Tensor(out!) y[n]) -> ()"
    assert of_jax(line, exported=set()).endswith("# No function for JAX: the op was exported without kernkit/shapes/export.h.\n")
    assert "__kk_register" in of_jax(line) and "__kk_register" in of_jax("op(Tensor(a!) y, Tensor x) -> ()")


def test_operands_of_jax_that_may_be_none_take_no_place(of_jax):
    text = of_jax("op(Tensor? v, Tensor u, Tensor(a!) x, Tensor(out!) y[2], int? k) -> ()")
    assert "(v, u, x,)" in text
    assert "{1 + (v is not None): 0}, (v is not None) << 0 | (k is not None) << 4, {'k': 0 if k is None else __kk_int(k)}" in text


def test_sizes_past_the_dots_count_from_the_end():
    text = of_torch("op(Tensor x[n, ..., d], Tensor? w[..., d], Tensor(out!) y[..., d, 2*n*3]) -> ()")
    for expected in ("n = x.shape[0]", "d = x.shape[-1]", "__kk_run = x.shape[1:-1]", "x.ndim >= 2", "w.ndim >= 1", "y.ndim >= 2",
                     "w.shape[:-1] == __kk_run", "w.shape[-1] == d", "y.shape[:-2] == __kk_run", "y.shape[-2] == d",
                     "y.shape[-1] == 2 * n * 3", "x.new_empty((*__kk_run, d, 2 * n * 3))"):  # fmt: skip
        assert expected in text, expected
    assert ".ndim" not in of_torch("op(Tensor x[...]) -> ()")


def test_required_inputs_bind_before_optional_inputs_and_outputs():
    shapes = Shapes(parse("op(Tensor(out!)? v[k?], Tensor(out!) w[k?], Tensor? b[n, m], Tensor[] cs[n, l], Tensor a[n]) -> ()"))
    assert {name: binder.value.name for name, binder in shapes.binders.items()} == {"n": "a", "l": "cs", "m": "b", "k": "w"}
    assert [name for name, binder in shapes.binders.items() if binder.always_bound] == ["n", "l", "k"]


def test_a_size_with_two_factors_binds_nothing():
    shapes = Shapes(parse("op(Tensor x[2*n*3], Tensor y[n], Tensor z[4*m], Tensor w[k*5]) -> ()"))
    bound = {name: (binder.value.name, binder.factor) for name, binder in shapes.binders.items()}
    assert bound == {"n": ("y", 1), "m": ("z", 4), "k": ("w", 5)}


def test_a_size_that_an_optional_tensor_binds_is_checked_by_no_framework():
    text = of_torch("op(Tensor x[n], Tensor? w[k], Tensor? b[n, k]) -> ()")
    assert "b.shape[0] == n" in text and "b.shape[1]" not in text


def test_a_size_that_an_optional_output_binds():
    text = of_torch("op(Tensor x[n], Tensor(out!)? v[k?], Tensor(out!)? w[k, k/n]) -> ()")
    assert "k = v.shape[0] if v is not None else None" in text
    assert '    if w is not None:\n        __kk_fits(w.ndim == 2' in text
    assert "__kk_fits(k is None or w.shape[0] == k," in text
    assert "__kk_fits(k is None or (k) % (n) == 0," in text and "__kk_fits(k is None or w.shape[1] == k // n," in text


def test_a_tensor_without_a_condition_has_no_block():
    text = of_torch("op(Tensor x[n], Tensor? w[_], Tensor[] xs[_]) -> ()")
    assert text.count("if w is not None:") == 1 == text.count("for __kk_i, __kk_e in __kk_enumerate(xs):")  # checks of ndim


def test_lists_that_must_have_a_tensor():
    plain = of_torch("op(Tensor x[n], Tensor[] xs[n]) -> ()")
    assert "has_items" not in plain
    assert '__kk_has_items(xs, "op", "xs", "m")' in of_torch("op(Tensor x[n], Tensor[] xs[m]) -> ()")
    assert '__kk_has_items(xs, "op", "xs", "...")' in of_torch("op(Tensor x[n], Tensor[] xs[...]) -> ()")
    assert "has_items" not in of_torch("op(Tensor x[n], Tensor[]? xs[m]) -> ()")
    # The dtype of the list is needed only for allocating an output that has no dtype in the schema line.
    text = of_torch("op(Tensor[] xs, Tensor(out!) y[3], Tensor(out!) z[4]: int8) -> ()")
    assert text.count('__kk_has_items(xs, "op", "xs", "the dtype of y")') == 1
    assert "xs[0].new_empty((3,)), xs[0].new_empty((4,), dtype=__kk_torch.int8)" in text
    assert "has_items" not in of_torch("op(Tensor[] xs, Tensor(out!) z[4]: int8) -> ()")
    returned = of_torch("op(Tensor[] xs) -> Tensor y[3]")
    assert returned.count('__kk_has_items(xs, "op", "xs", "the dtype of y")') == 1
    assert "has_items" not in of_torch("op(Tensor x, Tensor[] xs, Tensor(out!) y[3]) -> ()")


def test_dtypes_of_a_tensor_of_a_parameter_and_of_the_line():
    text = of_torch("op(Tensor(out!) y[n]: t or w or int8, Tensor x[n], Tensor? w, ScalarType? t=None) -> ()")
    assert "dtype=(t if t is not None else (w.dtype if w is not None else __kk_torch.int8)))" in text
    # int8 names the dtype here, although a parameter has the same name.
    assert "dtype=__kk_torch.int8)" in of_torch("op(Tensor(out!) y[n]: int8, Tensor x[n], Tensor int8) -> ()")


GRADIENTS = ["f(Tensor x[n, d], Tensor? w[d], float e) -> (Tensor y[n, d], Tensor z[n])",
             "g(Tensor grad_y[n, d], Tensor grad_z[n], Tensor x[n, d], Tensor? w[d], float e) -> (Tensor grad_x[n, d], Tensor grad_w[d])"]  # fmt: skip


def test_a_backward_of_two_results():
    text = of_torch(*GRADIENTS, f="g")
    for expected in ("    y, z, = __kk_output\n", "    __kk_ctx.save_for_backward(x, w)\n", "    __kk_ctx.__kk_scalars = (e, )\n",
                     "__kk_torch.ops.space.g.default(__kk_grad_y.contiguous(), __kk_grad_z.contiguous(), x, w, e)",
                     "    return __kk_grad_x, __kk_grad_w if w is not None else None, None\n", 'register_autograd("space::f",'):  # fmt: skip
        assert expected in text, expected
    assert "no_formula" not in text
    # For an op with a single output, the gradient is registered for the form that allocates the output.
    code = of_torch("f(Tensor x[n], Tensor v[n], Tensor(out!) y[n]) -> ()",
                    "g(Tensor grad_y[n], Tensor(out!) grad_x[n]) -> ()", f="g")  # fmt: skip
    for expected in ("    y = __kk_output\n", "__kk_torch.ops.space.g.functional(__kk_grad_y.contiguous())",
                     'register_autograd("space::f.functional",', "    return __kk_grad_x, None\n",
                     "__kk_no_formula('f', __kk_ctx.needs_input_grad, ['', 'v'])"):  # fmt: skip
        assert expected in code, expected


def test_a_backward_of_two_results_for_jax(of_jax):
    text = of_jax(*GRADIENTS, f="g")
    for expected in ("    y, z, = __kk_results\n", "    return __kk_results, (x, w,)\n", "nondiff_argnums=(2,)",
                     "    return (__kk_grad_x, __kk_grad_w if w is not None else None,)\n", "symbolic_zeros=False"):  # fmt: skip
        assert expected in text, expected
    assert "no_formula" not in text
    code = of_jax("f(Tensor x[n], Tensor v[n], Tensor(out!) y[n]) -> ()", "g(Tensor grad_y[n], Tensor(out!) grad_x[n]) -> ()", f="g")
    for expected in ("    y = __kk_results\n", "    return (__kk_grad_x, None,)\n", "symbolic_zeros=True",
                     "__kk_no_formula('f', {'v': v})", "    x = __kk_value(x)\n"):  # fmt: skip
        assert expected in code, expected


def test_a_batch_is_one_call_if_each_tensor_begins_with_each(of_jax):
    def both(line):
        return "__kk_new_of_op, True)" in of_torch(line), '"broadcast_all"' in of_jax(line)

    assert both("op(Tensor(out!) y[each..., n], Tensor x[each..., n], float f, int k) -> ()") == (True, True)
    assert both("op(Tensor(out!) y[each..., n], Tensor x[each..., n], Tensor w[n]) -> ()") == (False, False)
    assert both("op(Tensor(out!) y[each...], Tensor x[each...], Tensor(a!) w[each...]) -> ()") == (True, False)
    assert both("op(Tensor(out!) y[each..., numel(...)], Tensor x[each...]) -> ()") == (False, False)
    assert both("op(Tensor(out!) y[...], Tensor x[...]) -> ()") == (False, False)


def test_a_module_lists_its_ops():
    ops = parse_all(["has(Tensor x) -> ()", "lacks(Tensor x, bytes b) -> ()"])
    text = torch_ops.source("package", "lib.so", "space", ops, {})
    assert '    "has",\n' in text and '    "lacks",\n' not in text
