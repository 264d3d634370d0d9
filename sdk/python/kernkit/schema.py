# SPDX-License-Identifier: Apache-2.0
"""The schema line of an op, as KERNKIT_EXPORT has it.

The grammar is that of kernkit/schema/parser.h: parse() accepts the lines that the compiler accepts, and no other.
"""

import dataclasses
import re
from typing import List, Optional


TYPES = "Tensor int float bool str ScalarType Device bytes Callable Any".split()

# The beginning of names that generated modules define for themselves; no name of a schema line begins so.
RESERVED = "__"
MAX_PARAMETERS, MAX_RESULTS = 64, 8

_DTYPE = re.compile(
    r"(bool|(int|uint|float|bfloat|complex|handle)(?P<bits>[1-9][0-9]*)|float8_(e3m4|e4m3|e4m3b11fnuz|e4m3fn|e4m3fnuz|e5m2|"
    r"e5m2fnuz|e8m0fnu)|float6_(e2m3fn|e3m2fn)|float4_e2m1fn)(x(?P<lanes>[1-9][0-9]*))?"
)
_FLOAT = re.compile(r"-?(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"\w*", re.ASCII)
_DTYPE_WORDS = re.compile(r"[\w ?]*", re.ASCII)
_PLAIN_DEFAULT = re.compile(r"[\w.+-]*", re.ASCII)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def is_dtype(word: str) -> bool:
    """Whether a word is the name of a dtype, as parse_dtype() of kernkit/types/dtype.h accepts it."""
    found = _DTYPE.fullmatch(word)
    bits, lanes = (found["bits"] or "8", found["lanes"] or "2") if found else ("", "")
    return found is not None and len(bits) <= 3 and int(bits) < 2**8 and len(lanes) <= 5 and 2 <= int(lanes) < 2**16


def is_int(text: str) -> bool:
    """Whether a text is a whole number of 64 bits, as parse_int() of kernkit/schema/number.h accepts it."""
    digits = text[text.startswith("-"):]
    if not re.fullmatch("[0-9]+", digits) or len(digits.lstrip("0")) > 19:
        return False
    return -(2**63) <= int(text[: text.startswith("-")] + (digits.lstrip("0") or "0")) < 2**63


def is_float(text: str) -> bool:
    """Whether a text is a number, inf, -inf or nan, as parse_float() of kernkit/schema/number.h accepts it."""
    if text in ("inf", "-inf", "nan"):
        return True
    found = _FLOAT.fullmatch(text)
    if not found or len(found["digits"].replace(".", "").lstrip("0")) > 800:
        return False
    return abs(float(text)) < float("inf")


@dataclasses.dataclass(frozen=True)
class Value:
    """A parameter or a result, as in `Tensor(a!) y` or `float factor=1.0`."""

    type: str  # one of TYPES
    name: str = ""  # "" for a result without a name
    is_list: bool = False
    is_optional: bool = False
    is_written: bool = False
    default: Optional[str] = None  # text in the line, with quotes
    is_only_written: bool = False  # (out!)
    shape: Optional[str] = None  # text in the line: "n, 2*d"
    dtype: Optional[str] = None  # text in the line: "out_type or bfloat16"
    is_alias: bool = False  # (a) or (a!)


@dataclasses.dataclass(frozen=True)
class Op:
    """One exported function."""

    name: str
    line: str  # "scale(Tensor(out!) y[each...], Tensor x[each...], float factor) -> ()"
    parameters: List[Value]
    results: List[Value]
    doc: str = ""

    @property
    def has_shapes(self) -> bool:
        """Whether the line has a shape, a dtype or (out!)."""
        return any(value.shape is not None or value.dtype is not None or value.is_only_written for value in self.parameters + self.results)


class SchemaError(ValueError):
    """A line that is not in the notation. The message has the position."""


class _Reader:
    def __init__(self, line: str, is_checked: bool) -> None:
        self.line, self.is_checked = line, is_checked
        self.position = 0

    def fail(self, expected: str) -> SchemaError:
        return SchemaError(f'"{self.line}": expected {expected} at character {self.position}')

    def word(self, pattern: "re.Pattern[str]" = _WORD) -> str:
        self.skip_space()
        return self.take(pattern)

    def take(self, pattern: "re.Pattern[str]") -> str:
        found = pattern.match(self.line, self.position)
        self.position = found.end() if found else self.position
        return found[0] if found else ""

    def skip_space(self) -> None:
        while self.line.startswith(" ", self.position):
            self.position += 1

    def follows(self, sign: str) -> bool:
        """Consumes a sign that follows without a space."""
        if not self.line.startswith(sign, self.position):
            return False
        self.position += len(sign)
        return True

    def eats(self, sign: str) -> bool:
        self.skip_space()
        return self.follows(sign)

    def needs(self, sign: str, expected: str) -> None:
        if not self.eats(sign):
            raise self.fail(expected)

    def value(self, is_result: bool) -> Value:
        kind = self.word()
        if kind not in TYPES:
            self.position -= len(kind)
            raise self.fail(f"one of {', '.join(TYPES)}")
        letter, is_written = "", False
        if self.follows("("):
            letter = self.word()
            is_written = self.eats("!")
            if not letter or not self.eats(")") or kind != "Tensor":
                raise self.fail("Tensor(a!), with a letter")
        is_list = self.follows("[")
        if is_list:
            self.needs("]", "]: a list is written int[]")
        is_optional = self.follows("?")
        name = self.word()
        begin = self.position - len(name)
        shape = dtype = None
        if self.follows("["):
            end = self.line.find("]", self.position)
            if end < 0:
                raise self.fail("]")
            shape, self.position = self.line[self.position : end], end + 1
        if self.eats(":"):
            dtype = self.take(_DTYPE_WORDS).strip(" ")
        self.check_name(name, begin, is_result and shape is None and dtype is None)
        return Value(kind, name, is_list, is_optional, is_written, None, is_written and letter == "out", shape, dtype, bool(letter))

    def check_name(self, name: str, begin: int, may_be_empty: bool) -> None:
        expected = ""
        if (not name and not may_be_empty) or name[:1].isdigit():
            expected = "a name"
        elif name.startswith(RESERVED):
            expected = f"a name that does not begin with {RESERVED}, which is reserved"
        if expected and self.is_checked:
            self.position = begin
            raise self.fail(expected)

    def default(self, value: Value) -> str:
        """Parses a default that has the value's type."""
        self.skip_space()
        begin = self.position
        quoted = self.take(_QUOTED)
        text = quoted or self.take(_PLAIN_DEFAULT)
        if quoted:
            suits = value.type == "str" and not value.is_list
        elif text == "None":
            suits = value.is_optional
        elif value.is_list:
            suits = False
        else:
            check = {"bool": ("True", "False").__contains__, "ScalarType": is_dtype, "int": is_int, "float": is_float}.get(value.type)
            suits = check is not None and check(text)
        if not suits and (self.is_checked or not text):
            self.position = begin
            raise self.fail(f"a default of {value.type}{'[]' * value.is_list}{'?' * value.is_optional}")
        return text

    def parameters(self) -> List[Value]:
        values: List[Value] = []
        self.needs("(", "(")
        if self.eats(")"):
            return values
        while not values or self.eats(","):
            if len(values) == MAX_PARAMETERS and self.is_checked:
                raise self.fail(f"at most {MAX_PARAMETERS} parameters")
            value = self.value(is_result=False)
            if any(value.name == other.name for other in values) and self.is_checked:
                raise self.fail(f"another name than {value.name}, which two parameters have")
            if self.eats("="):
                value = dataclasses.replace(value, default=self.default(value))
            elif values and values[-1].default is not None and self.is_checked:
                raise self.fail(f"a default of {value.name}, which follows a parameter that has a default")
            values.append(value)
        self.needs(")", ", or )")
        return values

    def results(self) -> List[Value]:
        values: List[Value] = []
        in_parentheses = self.eats("(")
        if in_parentheses and self.eats(")"):
            return values
        while not values or (in_parentheses and self.eats(",")):
            if len(values) == MAX_RESULTS and self.is_checked:
                raise self.fail(f"at most {MAX_RESULTS} results")
            value = self.value(is_result=True)
            if value.name and any(value.name == other.name for other in values):
                raise self.fail(f"another name than {value.name}, which two results have")
            values.append(value)
        if in_parentheses:
            self.needs(")", ", or )")
        return values


def parse(line: str, doc: str = "", is_checked: bool = True) -> Op:
    """Parses "name(parameters) -> results". Raises SchemaError. With `is_checked` false names, defaults and their number
    are not checked, for a caller with its own messages about them."""
    reader = _Reader(line, is_checked)
    name = reader.word()
    reader.check_name(name, reader.position - len(name), False)
    parameters = reader.parameters()
    if not reader.eats("-") or not reader.follows(">"):
        raise reader.fail("->")
    results = reader.results()
    reader.skip_space()
    if reader.position != len(line):
        raise reader.fail("the end")
    return Op(name, line, parameters, results, doc)


