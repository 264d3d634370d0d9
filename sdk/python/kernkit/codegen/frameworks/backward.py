# SPDX-License-Identifier: Apache-2.0
"""The backward of an op, which KERNKIT_BACKWARD names: another op of the library, whose names say what they are.

Of silu_and_mul(Tensor(out!) y, Tensor x): grad_y is the gradient of what it writes or returns, x and y are
values of the forward call, and what is written or returned as grad_x is the gradient of x.
"""

import pathlib
from typing import Dict, List, Mapping

from ...binaries.ops import read_texts
from ...schema import SchemaError, Value
from .op_codegen import Writer

GRAD = "grad_"


def read_backwards(library: pathlib.Path) -> Dict[str, str]:
    """{op: its backward}, from the section where they stand as "op: backward"."""
    return dict(text.partition(": ")[::2] for text in read_texts(library, "kernkit_backward"))


class Backward:
    """How two ops belong together. Raises SchemaError for what cannot be a backward."""

    def __init__(self, forward: Writer, backward: Writer) -> None:
        self.forward, self.backward = forward, backward
        self.outputs = forward.op.results or forward.out
        self.results = backward.op.results or backward.out
        if any(v.is_written and not v.is_only_written for v in forward.op.parameters + backward.op.parameters):
            raise SchemaError("an op that reads what it writes has no backward, and is none")
        for op in (forward, backward):
            if not op.has_functional() and not op.op.results:
                raise SchemaError(f"{op.op.name}(): the line does not say the shape of what it writes")
        if backward._asked() or any(v.is_list for v in forward.tensors + backward.tensors):
            raise SchemaError("a backward takes no list, and asks its caller for no size")
        values = {v.name: v for v in forward.inputs + self.outputs}
        gradients = {GRAD + v.name for v in self.outputs}
        for value in backward.inputs:
            if value.name not in values and value.name not in gradients:
                raise SchemaError(f"{backward.op.name}(): {value.name}: expected a name of {forward.op.name} or one of "
                                  f"{', '.join(sorted(gradients))}")  # fmt: skip
            if value.name in values and value.type != values[value.name].type:
                raise SchemaError(f"{backward.op.name}(): {value.name}: is another type in {forward.op.name}")
        tensors = {GRAD + v.name for v in forward.inputs if v.type == "Tensor"}
        for value in self.results:
            if value.name not in tensors:
                raise SchemaError(f"{backward.op.name}(): {value.name}: expected one of {', '.join(sorted(tensors))}")

    def gradient_of(self, value: Value) -> str:
        """The name of its gradient, or ""."""
        return GRAD + value.name if any(r.name == GRAD + value.name for r in self.results) else ""

    def saved(self) -> List[Value]:
        """The tensors that the backward takes, and optional ones, of which it must be known whether they are there."""
        taken = {v.name for v in self.backward.inputs}
        return [v for v in self.forward.inputs + self.outputs if v.type == "Tensor"
                and (v.name in taken or (v.is_optional and self.gradient_of(v)))]  # fmt: skip

    def scalars(self) -> List[Value]:
        taken = {v.name for v in self.backward.inputs}
        return [v for v in self.forward.inputs if v.type != "Tensor" and v.name in taken]

    def without(self) -> List[Value]:
        """Inputs of which it computes no gradient."""
        return [v for v in self.forward.inputs if v.type == "Tensor" and not self.gradient_of(v)]


def formulas(writers: Mapping[str, Writer], named: Dict[str, str]) -> Dict[str, Backward]:
    """{op: its backward}. Raises SchemaError with both names."""
    found = {}
    for name, backward in named.items():
        if backward not in writers:
            raise SchemaError(f"{name}: its backward {backward} is no op of the library")
        try:
            found[name] = Backward(writers[name], writers[backward])
        except SchemaError as error:
            raise SchemaError(f"{name}: its backward {backward}: {error}") from None
    return found
