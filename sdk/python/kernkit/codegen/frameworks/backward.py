# SPDX-License-Identifier: Apache-2.0
"""The backward of an op: another op of the library, which computes the gradients. The macro KERNKIT_BACKWARD declares
which op is the backward.

The names of the backward's parameters define their meaning. For silu_and_mul(Tensor(out!) y, Tensor x), grad_y is the
gradient of the output y, x and y are values of the forward call, and the backward writes or returns grad_x, the
gradient of x.
"""

import pathlib
from typing import Dict, List, Mapping

from ...binaries.ops import read_named
from ...schema import SchemaError, Value
from .op_codegen import OpCodegen

GRAD = "grad_"


def read_backwards(library: pathlib.Path) -> Dict[str, str]:
    """Returns {op: name of its backward}, read from the section kernkit_backward of the library's file."""
    return read_named(library, "kernkit_backward")


class Backward:
    """An op and its backward. Raises SchemaError if `backward` cannot be the backward of `forward`."""

    def __init__(self, forward: OpCodegen, backward: OpCodegen) -> None:
        self.forward, self.backward = forward, backward
        self.outputs = forward.op.results or forward.out
        self.results = backward.op.results or backward.out
        if any(v.is_written and not v.is_only_written for v in forward.op.parameters + backward.op.parameters):
            raise SchemaError("an op that reads a tensor that it writes can neither have a backward nor be a backward")
        for op in (forward, backward):
            if not op.has_functional() and not op.op.results:
                raise SchemaError(f"{op.op.name}(): expected at least one output, each with a shape and neither optional nor a list; "
                                  "write, for example, Tensor(out!) y[n, d]")
        if backward._caller_parameters() or any(v.is_list for v in forward.tensors + backward.tensors):
            raise SchemaError("lists of tensors are unsupported, and the inputs of a backward must determine the sizes and dtypes of its "
                              "outputs")
        values = {v.name: v for v in forward.inputs + self.outputs}
        gradients = {GRAD + v.name for v in self.outputs}
        for value in backward.inputs:
            if value.name not in values and value.name not in gradients:
                raise SchemaError(f"{backward.op.name}(): {value.name}: expected an input or output of {forward.op.name}, or one of "
                                  f"{', '.join(sorted(gradients))}")  # fmt: skip
            if value.name in values and value.type != values[value.name].type:
                raise SchemaError(f"{backward.op.name}(): {value.name}: differs in type from the parameter of {forward.op.name}")
        tensors = {GRAD + v.name for v in forward.inputs if v.type == "Tensor"}
        for value in self.results:
            if value.name not in tensors:
                raise SchemaError(f"{backward.op.name}(): {value.name}: expected one of {', '.join(sorted(tensors))}")

    def gradient_of(self, value: Value) -> str:
        """Returns the name of the backward's result that is the gradient of `value`, or "" if the backward does not
        compute the gradient."""
        return GRAD + value.name if any(r.name == GRAD + value.name for r in self.results) else ""

    def saved(self) -> List[Value]:
        """Returns the tensors that the forward call saves for the backward: tensors that are arguments of the backward,
        and optional inputs that have a gradient, because the generated code checks whether they are None."""
        taken = {v.name for v in self.backward.inputs}
        return [v for v in self.forward.inputs + self.outputs if v.type == "Tensor"
                and (v.name in taken or (v.is_optional and self.gradient_of(v)))]  # fmt: skip

    def scalars(self) -> List[Value]:
        taken = {v.name for v in self.backward.inputs}
        return [v for v in self.forward.inputs if v.type != "Tensor" and v.name in taken]

    def without(self) -> List[Value]:
        """Returns the input tensors for which the backward computes no gradient."""
        return [v for v in self.forward.inputs if v.type == "Tensor" and not self.gradient_of(v)]


def formulas(codegens: Mapping[str, OpCodegen], named: Dict[str, str]) -> Dict[str, Backward]:
    """Returns {op: the op and its backward}. Raises SchemaError, with the names of both ops, if an op cannot be the
    backward of another op."""
    backwards = {}
    for name, backward in named.items():
        if backward not in codegens:
            raise SchemaError(f"{name}: its backward {backward} is not an op of the library; export {backward}, or correct the name")
        try:
            backwards[name] = Backward(codegens[name], codegens[backward])
        except SchemaError as error:
            raise SchemaError(f"{name}: its backward {backward}: {error}") from None
    return backwards
