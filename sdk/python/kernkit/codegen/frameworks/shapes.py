# SPDX-License-Identifier: Apache-2.0
"""The shapes and dtypes of a schema line, as kernkit/schema/parser.h parses them (docs/shapes.md).

"..." is a run of any sizes, the same in every tensor. "each..." is such a run with a promise: the op computes each index
of the run independently, so that one call with a batch gives the same result as one call for each item.
"""

import dataclasses
import re
from typing import Dict, Iterator, List, Optional, Set, Tuple

from ...schema import RESERVED, Op, SchemaError, Value, is_dtype, is_int

# The messages of kernkit/schema/diagnostics.h.
DIAGNOSTICS = {
    "NoTensor": "only a Tensor has a shape or a dtype",
    "AliasOfResult": "a result with a shape is new memory, and an alias is an argument's: leave out the shape or the alias",
    "Size": "expected a size: a number, a name, _, ..., or an expression of them with "
            "+ - * / ( ) ceil_div(a, b) round_up(a, b) numel(...)",
    "Unclosed": "expected ',' or ']' after a size",
    "TwoRuns": "a shape has '...' once",
    "NotAnInt": "a size has the name of a parameter that is not an int",
    "CallerSized": "'?' may only follow a name, in the shape of a Tensor(out!)",
    "Unbound": "no required input binds this name: write it alone (n) or times a number (2*n) once",
    "UnknownSize": "no input determines this name of an output's size",
    "AnyOfOutput": "_ is for inputs; an output's size must follow from them",
    "NoRun": "no required input determines '...'",
    "Dtype": "expected after ':' a dtype, or the name of a tensor that is read or of a ScalarType "
             "parameter; after a parameter that may be None, 'or' and a second name; for an "
             "output, ? is allowed as well",
    "Reserved": "a name of a size that begins with two underscores is reserved",
    "TooMany": "more than 32 names, 128 sizes or 256 parts of expressions",
    "NoDtypeSource": "no tensor determines the dtype of this output: write a dtype after ':'",
}  # fmt: skip

MAX_NAMES, MAX_SIZES, MAX_NODES = 32, 128, 256
_TOKEN = re.compile(r" *(\w+|\.\.\.|[-+*/(),?])", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Size:
    """One size of a shape. `python` is the size as an expression of variables."""

    kind: str  # any, run, scaled, sum
    text: str = ""  # text for messages: "2 * d"
    python: str = ""
    names: Tuple[str, ...] = ()
    name: str = ""  # name of a scaled size
    factor: int = 1
    is_caller_sized: bool = False
    # In the order of evaluation: (numerator, denominator, whether it must divide).
    divisions: Tuple[Tuple[str, str, bool], ...] = ()
    has_run: bool = False  # whether the size contains numel(...)
    is_each: bool = False  # "each..."


@dataclasses.dataclass(frozen=True)
class _Node:
    """A subexpression, without the parentheses around it."""

    text: str
    python: str
    kind: str  # number, name, product, other
    number: int = 0
    operands: Tuple["_Node", ...] = ()  # factors of a product


class _Limits:
    """The numbers of names, sizes and subexpressions of a whole line, which are limited."""

    def __init__(self) -> None:
        self.names: Set[str] = set()
        self.num_sizes = self.num_nodes = 0

    def check(self) -> None:
        if len(self.names) > MAX_NAMES or self.num_sizes > MAX_SIZES or self.num_nodes > MAX_NODES:
            raise SchemaError(DIAGNOSTICS["TooMany"])


class _Sizes:
    """Parses the text between the brackets of one shape, as kernkit/schema/size_parser.h does."""

    def __init__(self, text: str, limits: _Limits) -> None:
        self.text = text
        self.position = 0
        self.limits = limits

    def peek(self) -> str:
        found = _TOKEN.match(self.text, self.position)
        return found[1] if found else ""

    def eats(self, *tokens: str) -> str:
        token = self.peek()
        if token not in tokens:
            return ""
        self.position = _TOKEN.match(self.text, self.position).end()  # type: ignore[union-attr]
        return token

    def read(self) -> List[Size]:
        sizes: List[Size] = []
        if not self.text.strip(" "):
            return sizes
        while not sizes or self.eats(","):
            sizes.append(self.size())
            self.limits.num_sizes += 1
            self.limits.check()
        if self.text[self.position :].strip(" "):
            raise SchemaError(DIAGNOSTICS["Unclosed"])
        return sizes

    def size(self) -> Size:
        begin = self.position
        if self.eats("each"):
            if self.eats("..."):
                return Size("run", "...", is_each=True)
            self.position = begin  # a size with the name "each"
        if self.eats("..."):
            return Size("run", "...")
        if self.eats("_"):
            return Size("any", "_")
        self.names: List[str] = []
        self.divisions: List[Tuple[str, str, bool]] = []
        self.has_run = False
        begin = self.position
        node = self.sum()
        name, factor = self.scaled(node)
        is_caller_sized = bool(self.eats("?"))
        if is_caller_sized and (not name or factor != 1):
            raise SchemaError(DIAGNOSTICS["CallerSized"])
        assert begin < self.position
        return Size("scaled" if name else "sum", node.text, node.python, tuple(self.names),
                    name, factor, is_caller_sized, tuple(self.divisions), self.has_run)  # fmt: skip

    @staticmethod
    def scaled(node: _Node) -> Tuple[str, int]:
        """(name, factor) for a name, or for a name times a positive number; ("", 1) for another expression."""
        factor = 1
        if node.kind == "product":
            number, node = node.operands
            if node.kind == "number":
                number, node = node, number
            if number.kind != "number" or number.number <= 0:
                return "", 1
            factor = number.number
        return (node.operands[0].text if node.operands else node.text, factor) if node.kind == "name" else ("", 1)

    def added(self, text: str, python: str, kind: str = "other", number: int = 0, operands: Tuple[_Node, ...] = ()) -> _Node:
        self.limits.num_nodes += 1
        self.limits.check()
        return _Node(text, python, kind, number, operands)

    def sum(self) -> _Node:
        left = self.product()
        while sign := self.eats("+", "-"):
            right = self.product()
            left = self.added(f"{left.text} {sign} {right.text}", f"{left.python} {sign} {right.python}")
        return left

    def product(self) -> _Node:
        left = self.atom()
        while sign := self.eats("*", "/"):
            right = self.atom()
            if sign == "/":
                self.divisions.append((left.python, right.python, True))
            left = self.added(f"{left.text} {sign} {right.text}", f"{left.python} {'//' if sign == '/' else '*'} {right.python}",
                              "product" if sign == "*" else "other", operands=(left, right))  # fmt: skip
        return left

    def atom(self) -> _Node:
        if self.eats("("):
            inner = self.sum()
            self.needs(")")
            name = (inner,) if inner.kind == "name" else inner.operands
            return dataclasses.replace(inner, text=f"({inner.text})", python=f"({inner.python})", operands=name)
        word = self.peek()
        self.eats(word or "?")
        if word[:1].isdigit():
            if not is_int(word):
                raise SchemaError(DIAGNOSTICS["Size"])
            return self.added(word, str(int(word)), "number", int(word))
        if not word.isidentifier() or word == "_":
            raise SchemaError(DIAGNOSTICS["Size"])
        if not self.eats("("):
            if word.startswith(RESERVED):
                raise SchemaError(DIAGNOSTICS["Reserved"])
            self.names.append(word)
            self.limits.names.add(word)
            return self.added(word, word, "name")
        if word == "numel":
            self.needs("...")
            self.needs(")")
            self.has_run = True
            return self.added("numel(...)", "__numel(__run)")
        if word not in ("ceil_div", "round_up"):
            raise SchemaError(DIAGNOSTICS["Size"])
        left = self.sum()
        self.needs(",")
        right = self.sum()
        self.needs(")")
        self.divisions.append((left.python, right.python, False))
        return self.added(f"{word}({left.text}, {right.text})", f"__{word}({left.python}, {right.python})")

    def needs(self, token: str) -> None:
        if not self.eats(token):
            raise SchemaError(DIAGNOSTICS["Size"])


@dataclasses.dataclass(frozen=True)
class Binder:
    """The size of a tensor that determines a name."""

    value: Value
    place: int  # after "...", counted from the end: -1
    factor: int
    always_bound: bool  # whether every call has the tensor


class Shapes:
    """The shapes and dtypes of an op. SchemaError: the line is wrong; the message is that of the compile error."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.values = op.parameters + op.results
        self.sizes: Dict[int, Optional[List[Size]]] = {}
        limits = _Limits()
        for value in self.values:
            if value.dtype == "":
                raise SchemaError(DIAGNOSTICS["Dtype"])
            if (value.shape is not None or value.dtype) and value.type != "Tensor":
                raise SchemaError(DIAGNOSTICS["NoTensor"])
            if value.shape is not None and value.is_alias and any(value is result for result in op.results):
                raise SchemaError(DIAGNOSTICS["AliasOfResult"])
            self.sizes[id(value)] = None if value.shape is None else _Sizes(value.shape, limits).read()
        self.ints = {v.name for v in op.parameters if self._is_int(v)}
        self.binders: Dict[str, Binder] = {}
        self.run_of: Optional[Value] = None
        self.like: Optional[Value] = None
        self._check_names()
        self._bind()
        for value in self.values:
            self._check_sizes(value)
            self._check_dtype(value)

    @staticmethod
    def _is_int(value: Value) -> bool:
        return value.type == "int" and not value.is_list and not value.is_optional

    def of(self, value: Value) -> Optional[List[Size]]:
        """The sizes of a value's shape; None for a value without a shape."""
        return self.sizes[id(value)]

    def is_output(self, value: Value) -> bool:
        return value.is_only_written or any(value is result for result in self.op.results)

    def run_place(self, value: Value) -> int:
        """The index of "..." among the sizes of a value, or -1."""
        kinds = [size.kind for size in self.of(value) or []]
        return kinds.index("run") if "run" in kinds else -1

    def place(self, value: Value, i: int) -> int:
        run = self.run_place(value)
        return i if run < 0 or i < run else i - len(self.of(value) or [])

    def always_bound(self, name: str) -> bool:
        return name in self.ints or (name in self.binders and self.binders[name].always_bound)

    def _check_names(self) -> None:
        others = {v.name for v in self.op.parameters} - self.ints
        for value in self.values:
            sizes = self.of(value) or []
            if [size.kind for size in sizes].count("run") > 1:
                raise SchemaError(DIAGNOSTICS["TwoRuns"])
            if any(name in others for size in sizes for name in size.names):
                raise SchemaError(DIAGNOSTICS["NotAnInt"])

    def _groups(self) -> Iterator[Tuple[int, Value]]:
        tensors = [v for v in self.op.parameters if v.type == "Tensor"]
        read = [v for v in tensors if not v.is_only_written]
        yield from ((0, v) for v in read if not v.is_list and not v.is_optional)
        yield from ((0, v) for v in read if v.is_list and not v.is_optional)
        yield from ((1, v) for v in read if v.is_optional)
        yield from ((2, v) for v in tensors if v.is_only_written and not v.is_optional)
        yield from ((2, v) for v in tensors if v.is_only_written and v.is_optional)

    def _bind(self) -> None:
        for group, value in self._groups():
            if group == 0 and self.like is None:
                self.like = value
            if group == 0 and self.run_of is None and self.run_place(value) >= 0:
                self.run_of = value
            for i, size in enumerate(self.of(value) or []):
                wanted = size.kind == "scaled" and (group < 2 or size.is_caller_sized)
                if wanted and size.name not in self.ints and size.name not in self.binders:
                    self.binders[size.name] = Binder(value, self.place(value, i), size.factor, group != 1)

    def _check_sizes(self, value: Value) -> None:
        is_output = self.is_output(value)
        for size in self.of(value) or []:
            if size.is_caller_sized and not value.is_only_written:
                raise SchemaError(DIAGNOSTICS["CallerSized"])
            if size.kind == "any" and is_output:
                raise SchemaError(DIAGNOSTICS["AnyOfOutput"])
            if self.run_of is None and (size.has_run or (size.kind == "run" and is_output)):
                raise SchemaError(DIAGNOSTICS["NoRun"])
            matters = size.kind == "sum" or (size.kind == "scaled" and is_output)
            if matters and not all(map(self.always_bound, size.names)):
                raise SchemaError(DIAGNOSTICS["UnknownSize" if is_output else "Unbound"])

    def _check_dtype(self, value: Value) -> None:
        is_output = self.is_output(value)
        if not value.dtype:
            if is_output and value.shape is not None and not value.is_list and self.like is None:
                raise SchemaError(DIAGNOSTICS["NoDtypeSource"])
            return
        if value.dtype == "?" and is_output:
            return
        parameters = {v.name: v for v in self.op.parameters if not v.is_list and not v.is_only_written
                      and v.type in ("Tensor", "ScalarType")}  # fmt: skip
        words = value.dtype.replace(" ", "  ").split()
        for i, word in enumerate(words):
            if i % 2 == 1:
                is_right = word == "or" and i + 1 < len(words)
            else:
                may_be_none = not is_dtype(word) and word in parameters and parameters[word].is_optional
                is_right = (is_dtype(word) or word in parameters) and may_be_none == (i + 1 < len(words)) or (
                    may_be_none and i + 1 == len(words))
            if not is_right:
                raise SchemaError(DIAGNOSTICS["Dtype"])

    def caller_sized(self, value: Value) -> List[str]:
        """The sizes of an output that the caller of the functional form passes, as no input binds them."""
        return [size.name for size in self.of(value) or [] if size.is_caller_sized and self.is_caller_sized(size.name)]

    def is_caller_sized(self, name: str) -> bool:
        return name in self.binders and self.binders[name].value.is_only_written

    def dtypes(self, value: Value) -> List[str]:
        """The dtypes that the line names for a value."""
        return [word for word in (value.dtype or "").split()[::2] if is_dtype(word)]
