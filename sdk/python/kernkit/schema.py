# SPDX-License-Identifier: Apache-2.0
"""What a library says of its ops: the lines of KERNKIT_EXPORT, read from the file.

The grammar is that of kernkit/schema/parser.h, which has refused whatever is wrong in a line when
the library was compiled.
"""

import dataclasses
import pathlib
import re
from typing import Dict, List, Optional

from .binaries.elf import read_section
from .cli import Refusal

TYPES = "Tensor int float bool str ScalarType Device bytes Callable Any".split()

_TYPE = re.compile(
    r" *(?P<type>\w+)(?:\( *(?P<letter>\w+) *(?P<written>!)? *\))?(?P<list>\[ *\])?(?P<optional>\?)?"
)
_NAME = re.compile(r" *(?P<name>\w*)(\[(?P<shape>[^]]*)\])? *(: *(?P<dtype>[\w ?]*\w|\?) *)?")
_DEFAULT = re.compile(r"= *(?P<default>'[^']*'|\"[^\"]*\"|[\w.+-]+) *")


@dataclasses.dataclass(frozen=True)
class Value:
    """A parameter or a result, as in `Tensor(a!) y` or `float factor=1.0`."""

    type: str  # one of TYPES
    name: str = ""  # results may have none
    is_list: bool = False
    is_optional: bool = False
    is_written: bool = False
    default: Optional[str] = None  # as it is written, quotes included
    is_only_written: bool = False  # (out!)
    shape: Optional[str] = None  # as it is written, as in "n, 2*d"
    dtype: Optional[str] = None  # as it is written, as in "out_type or bfloat16"
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
    def says_shapes(self) -> bool:
        """Whether the line has a shape, a dtype or (out!)."""
        return any(value.shape is not None or value.dtype or value.is_only_written for value in self.parameters + self.results)


class SchemaError(ValueError):
    """A line that is not in the notation; says where."""


class _Reader:
    def __init__(self, line: str) -> None:
        self.line = line
        self.position = 0

    def fail(self, expected: str) -> SchemaError:
        return SchemaError(f'"{self.line}": expected {expected} at character {self.position}')

    def match(self, pattern: "re.Pattern[str]", expected: str) -> "re.Match[str]":
        found = pattern.match(self.line, self.position)
        if found is None:
            raise self.fail(expected)
        self.position = found.end()
        return found

    def eats(self, sign: str) -> bool:
        rest = self.line[self.position :].lstrip(" ")
        if not rest.startswith(sign):
            return False
        self.position = len(self.line) - len(rest) + len(sign)
        return True

    def value(self, default: bool) -> Value:
        found = self.match(_TYPE, "a type")
        if found["type"] not in TYPES:
            self.position = found.start("type")
            raise self.fail(f"one of {', '.join(TYPES)}")
        named, given = self.match(_NAME, "a name"), None
        if default and self.line.startswith("=", self.position):
            given = self.match(_DEFAULT, "a default")["default"]
        return Value(found["type"], named["name"], bool(found["list"]), bool(found["optional"]),
                     bool(found["written"]), given, bool(found["written"]) and found["letter"] == "out",
                     named["shape"], named["dtype"], bool(found["letter"]))  # fmt: skip

    def values(self, default: bool) -> List[Value]:
        """(value, value)"""
        values: List[Value] = []
        if not self.eats("("):
            raise self.fail("(")
        if self.eats(")"):
            return values
        while not values or self.eats(","):
            values.append(self.value(default))
        if not self.eats(")"):
            raise self.fail(", or )")
        return values


def parse(line: str, doc: str = "") -> Op:
    """Reads "name(parameters) -> results". Raises SchemaError."""
    reader = _Reader(line)
    name = reader.match(_NAME, "a name")["name"]
    parameters = reader.values(default=True)
    if not reader.eats("->"):
        raise reader.fail("->")
    bare = not line[reader.position :].lstrip(" ").startswith("(")
    results = [reader.value(default=False)] if bare else reader.values(default=False)
    if line[reader.position :].strip(" "):
        raise reader.fail("the end")
    return Op(name, line, parameters, results, doc)


def read_texts(path: pathlib.Path, section: str) -> List[str]:
    """NUL-terminated texts; the linker fills up with NUL."""
    content = read_section(path, section) or b""
    return [text.decode(errors="replace") for text in content.split(b"\0") if text]


def read_docs(path: pathlib.Path) -> Dict[str, str]:
    """The documentation of each op, from the section where it stands as "name: text"."""
    return dict(text.partition(": ")[::2] for text in read_texts(path, "kernkit_doc"))


def read_lines(path: pathlib.Path) -> List[str]:
    """The schema lines of a library, sorted by the op's name, which stands in front."""
    return sorted(read_texts(path, "kernkit_schema"), key=lambda line: line.partition("(")[0])


def read_ops(path: pathlib.Path) -> List[Op]:
    """The ops of a library, sorted by name. The library is not loaded."""
    docs = read_docs(path)
    try:
        return [parse(line, docs.get(line.partition("(")[0], "")) for line in read_lines(path)]
    except SchemaError as error:
        raise Refusal(f"{path}: this kernkit cannot read the schema line {error}") from error
