# SPDX-License-Identifier: Apache-2.0
"""The parsed schema line of an op. Only kernkit/schema/parser.h parses lines; parsed_line.py reads the parsed form."""

import dataclasses
from typing import Any, List, Optional, Tuple, Union

# A name or a number, as "n" or "8"; or an operation and its operands: ("+", "n", "1"), ("()", ("+", "n", "1")),
# ("ceil_div", "n", "8"), ("numel",).
Expression = Union[str, Tuple[Any, ...]]


@dataclasses.dataclass(frozen=True)
class Size:
    """One size of a shape in a schema line."""

    kind: str  # "any" for _, "run" for ... and each..., "scaled" for a name or its multiple, otherwise "sum"
    expression: Expression = ""
    name: str = ""  # name in a scaled size, such as d in 2 * d
    factor: int = 1  # factor in a scaled size, such as 2 in 2 * d
    is_caller_sized: bool = False  # k?
    is_each: bool = False  # each...


@dataclasses.dataclass(frozen=True)
class Value:
    """A parameter or a result, as in `Tensor(a!) y` or `float factor=1.0`."""

    type: str  # name of the type in the schema line, without [] and ?
    name: str = ""  # name of the parameter or result; "" for a result without a name
    is_list: bool = False
    is_optional: bool = False
    is_written: bool = False
    default: Optional[str] = None  # text of the default in the schema line, with quotes
    is_only_written: bool = False  # (out!)
    shape: Optional[Tuple[Size, ...]] = None
    dtype: Tuple[Union[int, str], ...] = ()  # names of dtypes, or indices of parameters that have the dtype, in order; ("?",): any dtype
    is_alias: bool = False  # (a) or (a!)

    @property
    def has_any_dtype(self) -> bool:
        """Returns whether the dtype in the schema line is "?", which means that the caller chooses the dtype of the output."""
        return self.dtype == ("?",)


@dataclasses.dataclass(frozen=True)
class Source:
    """A size of a tensor parameter that determines the value of a name in the schema line."""

    name: str
    value: int  # index of the tensor among the parameters
    axis: int  # index of the size; negative, counted from the end, for a size after "..."
    factor: int = 1
    is_optional: bool = False  # whether a call may omit the tensor


@dataclasses.dataclass(frozen=True)
class Op:
    """One exported function."""

    name: str
    line: str  # "scale(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"
    parameters: List[Value]
    results: List[Value]
    doc: str = ""
    sources: Tuple[Source, ...] = ()  # sources of the names in the schema line, in the order in which the names are bound
    run_of: Optional[int] = None  # index of the parameter that determines "..."
    like: Optional[int] = None  # index of the parameter that determines the default dtype and device of an output

    @property
    def has_shapes(self) -> bool:
        """Returns whether the schema line has a shape or a dtype, or marks an output with (out!)."""
        return any(value.shape is not None or value.dtype or value.is_only_written for value in self.parameters + self.results)


class SchemaError(ValueError):
    """Raised for a parsed schema line that this kernkit cannot read, and for an op that does not meet the requirements
    of its use, for example as a backward."""
