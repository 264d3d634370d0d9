# SPDX-License-Identifier: Apache-2.0
"""Determines which sizes of a recorded call change together: sizes with the same name in the op's schema line or, if the
schema line gives no size, equal sizes."""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..schema import Expression, Op, Size
from .recording import Value, tensors_of

Axis = Tuple[int, int]  # (number of a tensor in tensors_of(), index of a dimension)
Interval = Tuple[int, int]  # (first index, number of indices)
State = Dict[str, Interval]  # {name of a size: the indices that remain}


class Selection(NamedTuple):
    """The indices that remain in a smaller call, and the new values of its int arguments."""

    runs: Dict[Axis, List[Interval]]  # {dimension that was cut: the intervals that remain}
    numbers: Dict[int, int]  # {index of an int argument: its new value}


class Sizes:
    """Names for the sizes of a call. Dimensions and int arguments with the same name change together.

    The name of a size is: a name in the schema line; "...[1]" for dimension 1 of the dimensions that the schema line
    writes as "..."; "x[1]" for dimension 1 of x if the schema line writes this size as "_"; "=128" for all dimensions of
    size 128 for which the schema line gives no size. If `follow` is true, int arguments with the value 128 change
    together with the dimensions "=128".
    """

    def __init__(self, arguments: Sequence[Value], op: Optional[Op], follow: bool = False) -> None:
        self._tensors = list(tensors_of(arguments))
        self._axes: Dict[Axis, Expression] = {}
        self._factors: Dict[Axis, int] = {}
        self._run: List[str] = []
        self._numbers: Dict[int, str] = {}
        self.values: Dict[str, int] = {}
        parameters = op.parameters if op else []
        named = {size.name for parameter in parameters for size in parameter.shape or ()}
        for i, value in enumerate(arguments):
            if value.type == "int" and i < len(parameters) and value.value > 0 and parameters[i].name in _names_of(op):
                self.values[parameters[i].name] = value.value
                self._numbers[i] = parameters[i].name
        number = 0
        for i, argument in enumerate(arguments):
            shape = parameters[i].shape if i < len(parameters) else None
            for value in tensors_of([argument]):
                self._add_tensor(number, value, shape, named)
                number += 1
        self._check()
        for number, value in enumerate(self._tensors):
            for axis, size in enumerate(value.shape):
                if (number, axis) not in self._axes and value.storage is not None:
                    self._add(number, axis, self._equal(size), size)
        if follow:
            for i, value in enumerate(arguments):
                if value.type == "int" and f"={value.value}" in self.values and i not in self._numbers:
                    self._numbers[i] = f"={value.value}"
                    self.can_follow = True

    can_follow = False  # whether `follow` changes an int argument that the schema line does not use as a size

    def whole(self) -> State:
        return {name: (0, value) for name, value in self.values.items()}

    def select(self, state: State) -> Optional[Selection]:
        """Returns the selection for `state`, or None if the schema line excludes these sizes, for example if a size is
        d/8 in the schema line and 12 indices of d remain."""
        values = {name: length for name, (_, length) in state.items()}
        runs: Dict[Axis, List[Interval]] = {}
        for (number, axis), expression in self._axes.items():
            size = self._tensors[number].shape[axis]
            new = self._evaluate(expression, values)
            if new is None or not 0 < new <= size:
                return None
            if new == size:
                continue
            factor = self._factors.get((number, axis))
            if factor is not None:
                name = next(iter(_names_in(expression)))
                start, length = state[name]
                runs[number, axis] = [(block * self.values[name] + start, length) for block in range(factor)]
                continue
            shares = [start * size // self.values[name] for name in _names_in(expression) for start, _ in [state[name]]]
            runs[number, axis] = [(min(max(shares, default=0), size - new), new)]
        return Selection(runs, {i: values[name] for i, name in self._numbers.items() if values[name] != self.values[name]})

    def _add(self, number: int, axis: int, name: str, value: int, factor: int = 1) -> None:
        self.values.setdefault(name, value)
        self._axes[number, axis] = name if factor == 1 else ("*", str(factor), name)
        self._factors[number, axis] = factor

    def _add_tensor(self, number: int, value: Value, shape: Optional[Tuple[Size, ...]], named: "set[str]") -> None:
        if shape is None or value.storage is None:
            return
        num_run = value_rank = len(value.shape)
        num_run -= sum(size.kind != "run" for size in shape)
        if num_run < 0 or (num_run > 0 and not any(size.kind == "run" for size in shape)):
            return
        axis = 0
        for size in shape:
            if size.kind == "run":
                self._run = [f"...[{k}]" for k in range(num_run)]
                for name in self._run:
                    self._add(number, axis, name, value.shape[axis])
                    axis += 1
                continue
            if size.kind == "any":
                self._add(number, axis, f"{value.name}[{axis}]", value.shape[axis])
            elif size.kind == "scaled" and size.name not in self._numbers.values():
                self._add(number, axis, size.name, value.shape[axis] // size.factor, size.factor)
            else:
                self._axes[number, axis] = size.expression
            axis += 1
        assert axis == value_rank

    def _check(self) -> None:
        """Ignores the size that the schema line gives for a dimension if the recorded call has another size there."""
        for (number, axis), expression in list(self._axes.items()):
            if self._evaluate(expression, self.values) != self._tensors[number].shape[axis]:
                del self._axes[number, axis]
                self._factors.pop((number, axis), None)

    def _equal(self, size: int) -> str:
        names = [name for name, value in self.values.items() if value == size and not name.startswith("=")]
        return names[0] if len(names) == 1 else f"={size}"

    def _evaluate(self, expression: Expression, values: Dict[str, int]) -> Optional[int]:
        if isinstance(expression, str):
            return int(expression) if expression.isdigit() else values.get(expression)
        operation, *operands = expression
        if operation == "numel":
            product = 1
            for name in self._run:
                product *= values[name]
            return product
        numbers = [self._evaluate(operand, values) for operand in operands]
        a, b = numbers[0], numbers[-1]
        if a is None or b is None or (operation in ("/", "ceil_div", "round_up") and b == 0):
            return None
        if operation == "/":
            return a // b if a % b == 0 else None
        results = {"()": a, "+": a + b, "-": a - b, "*": a * b}
        if operation in results:
            return results[operation]
        return -(-a // b) * (b if operation == "round_up" else 1)


def _names_in(expression: Expression) -> "set[str]":
    if isinstance(expression, str):
        return set() if expression.isdigit() else {expression}
    return {name for operand in expression[1:] for name in _names_in(operand)}


def _names_of(op: Optional[Op]) -> "set[str]":
    """Returns the names of the sizes in a schema line."""
    values = [*op.parameters, *op.results] if op else []
    sizes = [size for value in values for size in value.shape or ()]
    return {name for size in sizes for name in ({size.name} if size.kind == "scaled" else _names_in(size.expression))} - {""}
