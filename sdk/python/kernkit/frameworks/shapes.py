# SPDX-License-Identifier: Apache-2.0
"""The shapes and dtypes of a schema line, as kernkit/shapes/reader.h reads them (docs/shapes.md).

"..." is one run of any sizes, the same in every tensor. "each..." is such a run with a promise: the op computes each index of
the run alone, so that one call with a batch gives what a call for each item gives.
"""

import dataclasses
import re
from typing import Dict, Iterator, List, Optional, Tuple

from ..schema import Op, SchemaError, Value

# As in kernkit/shapes/sentences.h.
SENTENCES = {
    "NoTensor": "only a Tensor has a shape or a dtype",
    "AliasOfResult": "a result with a shape is new memory, and an alias is an argument's: leave out the shape or the alias",
    "Size": "expected a size: a number, a name, _, ..., or an expression of them with "
            "+ - * / ( ) ceil_div(a, b) round_up(a, b) numel(...)",
    "Unclosed": "expected ',' or ']' behind a size",
    "TwoRuns": "a shape has '...' once",
    "NotAnInt": "a size has the name of a parameter that is no int",
    "Asked": "'?' stands behind a name, in the shape of a Tensor(out!)",
    "Unbound": "no required input binds this name: write it alone (n) or times a number (2*n) once",
    "Unsaid": "the inputs do not say what this name of an output's size is",
    "AnyOfOutput": "_ is for inputs; an output's size must follow from them",
    "NoRun": "no required input says what '...' is",
    "Dtype": "behind ':' stands a dtype, or the name of a tensor that is read or of a ScalarType "
             "parameter; behind one that may be None, 'or' and another; of what is written or "
             "returned, ? as well",
    "NothingAlike": "there is no tensor whose dtype this output could have: write one behind ':'",
}  # fmt: skip

DTYPES = re.compile(
    r"float(16|32|64)|bfloat16|u?int(8|16|32|64)|bool|complex(64|128)|float8_e[345]m[234]\w*"
)
_TOKEN = re.compile(r" *(\d\w*|[A-Za-z_]\w*|\.\.\.|[-+*/(),?])")


@dataclasses.dataclass(frozen=True)
class Size:
    """One size of a shape; `python` is the expression of it, where sizes are variables."""

    kind: str  # any, run, scaled, sum
    text: str = ""  # as messages show it: "2 * d"
    python: str = ""
    names: Tuple[str, ...] = ()
    name: str = ""  # scaled
    factor: int = 1
    is_asked: bool = False
    divisions: Tuple[Tuple[str, str], ...] = ()  # what must divide: (numerator, denominator)
    has_run: bool = False  # numel(...)
    is_each: bool = False  # each...: the op computes each index of the run alone


class _Sizes:
    """Reads the text between the brackets of one shape."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

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
        if self.text[self.position :].strip(" "):
            raise SchemaError(SENTENCES["Unclosed"])
        return sizes

    def size(self) -> Size:
        begin = self.position
        if self.eats("each"):
            if self.eats("..."):
                return Size("run", "...", is_each=True)
            self.position = begin  # a size of this name
        if self.eats("..."):
            return Size("run", "...")
        if self.eats("_"):
            return Size("any", "_")
        self.names: List[str] = []
        self.divisions: List[Tuple[str, str]] = []
        self.has_run = False
        begin = self.position
        text, python = self.sum()
        scaled = re.fullmatch(r"(?:([1-9]\d*) \* )?([A-Za-z_]\w*)(?: \* ([1-9]\d*))?", text)
        if scaled and scaled[1] and scaled[3]:
            scaled = None
        asked = bool(self.eats("?"))
        factor = int(scaled[1] or scaled[3] or 1) if scaled else 1
        if asked and (not scaled or factor != 1):
            raise SchemaError(SENTENCES["Asked"])
        assert begin < self.position
        return Size("scaled" if scaled else "sum", text, python, tuple(self.names),
                    scaled[2] if scaled else "", factor, asked, tuple(self.divisions), self.has_run)  # fmt: skip

    def sum(self) -> Tuple[str, str]:
        left = self.product()
        while sign := self.eats("+", "-"):
            right = self.product()
            left = (f"{left[0]} {sign} {right[0]}", f"{left[1]} {sign} {right[1]}")
        return left

    def product(self) -> Tuple[str, str]:
        left = self.atom()
        while sign := self.eats("*", "/"):
            right = self.atom()
            if sign == "/":
                self.divisions.append((left[1], right[1]))
            left = (f"{left[0]} {sign} {right[0]}", f"{left[1]} {'//' if sign == '/' else '*'} {right[1]}")
        return left

    def atom(self) -> Tuple[str, str]:
        if self.eats("("):
            inner = self.sum()
            self.needs(")")
            return f"({inner[0]})", f"({inner[1]})"
        word = self.peek()
        self.eats(word or "?")
        if word.isdigit():
            return word, str(int(word))
        if not word.isidentifier() or word == "_":
            raise SchemaError(SENTENCES["Size"])
        if not self.eats("("):
            self.names.append(word)
            return word, word
        if word == "numel":
            self.needs("...")
            self.needs(")")
            self.has_run = True
            return "numel(...)", "_numel(_run)"
        if word not in ("ceil_div", "round_up"):
            raise SchemaError(SENTENCES["Size"])
        left = self.sum()
        self.needs(",")
        right = self.sum()
        self.needs(")")
        return f"{word}({left[0]}, {right[0]})", f"_{word}({left[1]}, {right[1]})"

    def needs(self, token: str) -> None:
        if not self.eats(token):
            raise SchemaError(SENTENCES["Size"])


@dataclasses.dataclass(frozen=True)
class Binder:
    """A size of a tensor that says what a name is."""

    value: Value
    place: int  # behind "...", counted from the end: -1
    factor: int
    is_sure: bool  # in every call


class Shapes:
    """What the line of an op says. Raises SchemaError, in the words of the compile errors."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.values = op.parameters + op.results
        self.sizes: Dict[int, Optional[List[Size]]] = {}
        for value in self.values:
            if (value.shape is not None or value.dtype) and value.type != "Tensor":
                raise SchemaError(SENTENCES["NoTensor"])
            if value.shape is not None and value.is_alias and any(value is result for result in op.results):
                raise SchemaError(SENTENCES["AliasOfResult"])
            self.sizes[id(value)] = None if value.shape is None else _Sizes(value.shape).read()
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
        """The sizes of its shape; None where none is said."""
        return self.sizes[id(value)]

    def is_output(self, value: Value) -> bool:
        return value.is_only_written or any(value is result for result in self.op.results)

    def run_place(self, value: Value) -> int:
        """Which of its sizes is "...", or -1."""
        kinds = [size.kind for size in self.of(value) or []]
        return kinds.index("run") if "run" in kinds else -1

    def place(self, value: Value, i: int) -> int:
        run = self.run_place(value)
        return i if run < 0 or i < run else i - len(self.of(value) or [])

    def is_sure(self, name: str) -> bool:
        return name in self.ints or (name in self.binders and self.binders[name].is_sure)

    def _check_names(self) -> None:
        others = {v.name for v in self.op.parameters} - self.ints
        for value in self.values:
            sizes = self.of(value) or []
            if [size.kind for size in sizes].count("run") > 1:
                raise SchemaError(SENTENCES["TwoRuns"])
            if any(name in others for size in sizes for name in size.names):
                raise SchemaError(SENTENCES["NotAnInt"])

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
                wanted = size.kind == "scaled" and (group < 2 or size.is_asked)
                if wanted and size.name not in self.ints and size.name not in self.binders:
                    self.binders[size.name] = Binder(value, self.place(value, i), size.factor, group != 1)

    def _check_sizes(self, value: Value) -> None:
        is_output = self.is_output(value)
        for size in self.of(value) or []:
            if size.is_asked and not value.is_only_written:
                raise SchemaError(SENTENCES["Asked"])
            if size.kind == "any" and is_output:
                raise SchemaError(SENTENCES["AnyOfOutput"])
            if self.run_of is None and (size.has_run or (size.kind == "run" and is_output)):
                raise SchemaError(SENTENCES["NoRun"])
            matters = size.kind == "sum" or (size.kind == "scaled" and is_output)
            if matters and not all(map(self.is_sure, size.names)):
                raise SchemaError(SENTENCES["Unsaid" if is_output else "Unbound"])

    def _check_dtype(self, value: Value) -> None:
        is_output = self.is_output(value)
        if not value.dtype:
            if is_output and value.shape is not None and not value.is_list and self.like is None:
                raise SchemaError(SENTENCES["NothingAlike"])
            return
        if value.dtype == "?" and is_output:
            return
        parameters = {v.name: v for v in self.op.parameters if not v.is_list and not v.is_only_written
                      and v.type in ("Tensor", "ScalarType")}  # fmt: skip
        words = re.split(r" +or +", value.dtype)
        for word in words:
            may_be_none = word in parameters and parameters[word].is_optional
            known = word in parameters or DTYPES.fullmatch(word)
            if not known or (not may_be_none and word is not words[-1]):
                raise SchemaError(SENTENCES["Dtype"])

    def asked(self, value: Value) -> List[str]:
        """The names of its sizes that the caller of the functional form says."""
        return [size.name for size in self.of(value) or [] if size.is_asked]
