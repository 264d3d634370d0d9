# SPDX-License-Identifier: Apache-2.0
"""The shapes and dtypes of a schema line, with each size as an expression of Python (docs/shapes.md).

"..." stands for a run: any number of sizes, which are the same in every tensor. "each..." is a run for which the op's
author promises that the op computes each index of the run independently of other indices, so that one call with a batch
gives the same result as one call for each item.
"""

import dataclasses
from typing import Dict, List, Optional, Tuple

from ... import schema
from ...schema import Expression, Op, Value


@dataclasses.dataclass(frozen=True)
class Size:
    """One size of a shape. `python` is the Python source of the size, with names as variables."""

    kind: str  # "any", "run", "scaled" or "sum", see schema.Size
    text: str = ""  # text for messages: "2 * d"
    python: str = ""
    names: Tuple[str, ...] = ()
    name: str = ""  # name in a size of the kind "scaled", such as d in 2 * d
    factor: int = 1
    is_caller_sized: bool = False
    # Divisions in the size, in the order of evaluation: (numerator, denominator, whether the denominator must divide
    # the numerator), as Python source.
    divisions: Tuple[Tuple[str, str, bool], ...] = ()
    has_run: bool = False  # whether the size contains numel(...), the product of the sizes of "..."
    is_each: bool = False  # "each..."


class _Writer:
    """Writes an expression of the schema line as text and as Python source, and collects the names and divisions of
    the expression."""

    def __init__(self) -> None:
        self.names: List[str] = []
        self.divisions: List[Tuple[str, str, bool]] = []
        self.has_run = False

    def written(self, expression: Expression) -> Tuple[str, str]:
        """Returns the expression as (text for messages, Python source)."""
        if isinstance(expression, str):
            if expression[0].isdigit():
                return expression, str(int(expression))
            self.names.append(expression)
            return expression, expression
        operation, *operands = expression
        if operation == "numel":
            self.has_run = True
            return "numel(...)", "__numel(__run)"
        texts, pythons = zip(*map(self.written, operands))
        if operation == "()":
            return f"({texts[0]})", f"({pythons[0]})"
        if operation in ("ceil_div", "round_up"):
            self.divisions.append((*pythons, False))
            return f"{operation}({', '.join(texts)})", f"__{operation}({', '.join(pythons)})"
        if operation == "/":
            self.divisions.append((*pythons, True))
        return f" {operation} ".join(texts), f" {'//' if operation == '/' else operation} ".join(pythons)


def _size(size: schema.Size) -> Size:
    if size.kind in ("any", "run"):
        return Size(size.kind, "_" if size.kind == "any" else "...", is_each=size.is_each)
    writer = _Writer()
    text, python = writer.written(size.expression)
    return Size(size.kind, text, python, tuple(writer.names), size.name, size.factor, size.is_caller_sized,
                tuple(writer.divisions), writer.has_run)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Binder:
    """The size of a tensor that determines the value of a name in the schema line: the value is the size divided by
    `factor`."""

    value: Value
    axis: int  # index of the size in the shape; negative, from the end, for a size after "..."
    factor: int
    always_bound: bool  # whether the tensor is required, so that every call passes the tensor


class Shapes:
    """The shapes and dtypes in an op's schema line."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.values = op.parameters + op.results
        self.sizes: Dict[int, Optional[List[Size]]] = {}
        for value in self.values:
            self.sizes[id(value)] = None if value.shape is None else [*map(_size, value.shape)]
        self.ints = {v.name for v in op.parameters if v.type == "int" and not v.is_list and not v.is_optional}
        self.binders = {source.name: Binder(op.parameters[source.value], source.axis, source.factor, not source.is_optional)
                        for source in op.sources}  # fmt: skip
        self.run_of = None if op.run_of is None else op.parameters[op.run_of]
        self.like = None if op.like is None else op.parameters[op.like]

    def sizes_of(self, value: Value) -> Optional[List[Size]]:
        """Returns the sizes in a value's shape, or None for a value without a shape."""
        return self.sizes[id(value)]

    def axis_of_run(self, value: Value) -> int:
        """Returns the index of "..." among the sizes of a value's shape, or -1."""
        kinds = [size.kind for size in self.sizes_of(value) or []]
        return kinds.index("run") if "run" in kinds else -1

    def axis(self, value: Value, i: int) -> int:
        run = self.axis_of_run(value)
        return i if run < 0 or i < run else i - len(self.sizes_of(value) or [])

    def always_bound(self, name: str) -> bool:
        return name in self.ints or (name in self.binders and self.binders[name].always_bound)

    def caller_sized(self, value: Value) -> List[str]:
        """Returns the names in the shape of an output that no input determines, so the caller of the functional form
        passes their values."""
        return [size.name for size in self.sizes_of(value) or [] if size.is_caller_sized and self.is_caller_sized(size.name)]

    def is_caller_sized(self, name: str) -> bool:
        return name in self.binders and self.binders[name].value.is_only_written

    def dtypes(self, value: Value) -> List[str]:
        """Returns the names of dtypes that the schema line gives for a value."""
        return [source for source in value.dtype if isinstance(source, str) and source != "?"]
