# SPDX-License-Identifier: Apache-2.0
"""Tests which ops are accepted as the backward of another op, and the errors for rejected ops."""

import pytest
from kernkit.codegen.frameworks.backward import formulas
from kernkit.codegen.frameworks.op_codegen import OpCodegen
from kernkit.schema import SchemaError
from lines import parse_all

SILU = "silu(Tensor(out!) y[n, d], Tensor x[n, 2*d], float eps) -> ()"


def pair(backward, forward=SILU):
    ops = parse_all([forward, *([backward] if backward else [])])
    codegens = {op.name: OpCodegen(op, op.name) for op in ops}
    return formulas(codegens, {"silu": "silu_back"})["silu"]


def test_rows_are_grouped_by_name():
    found = pair("silu_back(Tensor(out!) grad_x[n, 2*d], Tensor grad_y[n, d], Tensor y[n, d], float eps) -> ()")
    assert [v.name for v in found.saved()] == ["y"] and [v.name for v in found.scalars()] == ["eps"]
    assert found.gradient_of(found.forward.inputs[0]) == "grad_x" and found.without() == []


def test_an_optional_input_is_saved_to_record_its_presence():
    found = pair("silu_back(Tensor grad_y[n, d], Tensor x[n, d]) -> (Tensor grad_x[n, d], Tensor grad_w[n, d])",
                 "silu(Tensor x[n, d], Tensor? w[n, d]=None, Tensor? b[n, d]=None) -> Tensor y[n, d]")  # fmt: skip
    assert [v.name for v in found.saved()] == ["x", "w"] and [v.name for v in found.without()] == ["b"]


@pytest.mark.parametrize(
    "backward, forward, message",
    [("", SILU, "silu: its backward silu_back is not an op of the library; export silu_back, or correct the name"),
     ("silu_back(Tensor(out!) grad_x[n, 2*d], Tensor dy[n, d]) -> ()", SILU,
      "silu: its backward silu_back: silu_back(): dy: expected an input or output of silu, or one of grad_y"),
     ("silu_back(Tensor(out!) dx[n, 2*d], Tensor grad_y[n, d]) -> ()", SILU,
      "silu: its backward silu_back: silu_back(): dx: expected one of grad_x"),
     ("silu_back(Tensor(out!) grad_x[n, 2*d], Tensor grad_y[n, d], int eps) -> ()", SILU,
      "silu: its backward silu_back: silu_back(): eps: differs in type from the parameter of silu"),
     ("silu_back(Tensor(out!) grad_x, Tensor grad_y) -> ()", SILU,
      "silu: its backward silu_back: silu_back(): expected at least one output, each with a shape and neither optional nor a list; "
      "write, for example, Tensor(out!) y[n, d]"),
     ("silu_back(Tensor(a!) grad_x[n], Tensor grad_y[n]) -> ()", SILU,
      "silu: its backward silu_back: an op that reads a tensor that it writes can neither have a backward nor be a backward"),
     ("silu_back(Tensor(out!) grad_x[n, k?], Tensor grad_y[n, d]) -> ()", SILU,
      "silu: its backward silu_back: lists of tensors are unsupported, and the inputs of a backward must determine the sizes and "
      "dtypes of its outputs")],
)  # fmt: skip
def test_a_mismatch_is_rejected(backward, forward, message):
    with pytest.raises(SchemaError) as caught:
        pair(backward, forward)
    assert str(caught.value) == message
