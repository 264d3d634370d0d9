# SPDX-License-Identifier: Apache-2.0
"""Parses the schema line of an op that is not in a library yet.

parse_lines.cc includes the parser kernkit/schema/parser.h, and is compiled once per process. The compiler is $CXX, or
the first of c++, g++ and clang++ that is installed.
"""

import dataclasses
import functools
import json
import os
import pathlib
import shlex
import shutil
import tempfile
from typing import Any, Dict, List, Optional, Tuple

from ... import programs
from ...errors import UserError
from ...parsed_line import read_op
from ...schema import Op, Value
from ...sdk import sdk_folder

_SOURCE = pathlib.Path(__file__).resolve().parent / "parse_lines.cc"
_COMPILERS = ("c++", "g++", "clang++")


@dataclasses.dataclass(frozen=True)
class LineError:
    """The first error in a schema line."""

    name: str  # name of the enumerator of ParseError or ShapeError, such as "kDefault"
    text: str  # what the parser expected, such as "->"; for an error in a shape or dtype, a sentence
    position: int  # offset of the error in the line, from 0
    is_of_shape: bool


def _compiler() -> List[str]:
    try:
        command = shlex.split(os.environ.get("CXX", "")) or [name for name in _COMPILERS if shutil.which(name)][:1]
    except ValueError as error:
        raise UserError(f"CXX is not a command: {error}") from None
    if not command:
        raise UserError(f"no C++ compiler found; kernkit compiles the parser of the schema: install one of {', '.join(_COMPILERS)}, or set CXX")
    return command


@functools.lru_cache(maxsize=None)
def _program() -> Tuple[pathlib.Path, "tempfile.TemporaryDirectory[str]"]:
    """Returns (the compiled program, its folder, which is removed at the end of the process). Raises UserError if no
    compiler is installed, or if the compiler fails."""
    folder = tempfile.TemporaryDirectory(prefix="kernkit_")
    program = pathlib.Path(folder.name, "parse_lines")
    compiler = _compiler()
    result = programs.run([*compiler, "-std=c++17", "-O0", "-I", sdk_folder() / "include", _SOURCE, "-o", program], capture_output=True, text=True)
    if result.returncode != 0:
        raise UserError(f"the schema cannot be parsed, because {compiler[0]} failed to compile the parser:\n{result.stderr}".rstrip())
    return program, folder


def parse_texts(texts: List[str]) -> List[str]:
    """Returns the JSON of each line: the parsed form or, after an error, the form of the part before the error and the
    key "error". A line begins with its parameters and contains no NUL. Raises UserError if the parser cannot be
    compiled or run."""
    program, _ = _program()
    try:
        result = programs.run([program], input="".join(text + "\0" for text in texts), capture_output=True, encoding="utf-8", errors="replace")
    except UserError as error:
        raise UserError(f"{error}; the program is kernkit's parser of schemas: set CXX to a compiler whose programs run on this machine") from None
    lines: List[str] = result.stdout.split("\n")[:-1]
    if result.returncode != 0 or len(lines) != len(texts):
        raise UserError(f"the program that parses the schema failed with exit code {result.returncode}; its source is {_SOURCE}")
    return lines


def _incomplete_value(parsed: Dict[str, Any]) -> Value:
    alias = parsed.get("alias", "")
    return Value(parsed["type"], parsed.get("name", ""), parsed.get("list", False), parsed.get("optional", False), alias.endswith("!"),
                 parsed.get("default"), is_only_written=alias == "out!", is_alias=bool(alias))  # fmt: skip


def parse(name: str, text: str) -> Tuple[Op, Optional[LineError]]:
    """Returns (op, first error or None) of the schema line `text` of the op `name`. After an error the op has the
    parameters and results up to the error: the last parameter or result can be incomplete or have an invalid name or
    default, and shapes and dtypes are missing."""
    (parsed,) = map(json.loads, parse_texts([text]))
    if "error" not in parsed:
        return read_op(name, name + text, parsed), None
    parameters, results = ([*map(_incomplete_value, parsed[key])] for key in ("parameters", "results"))
    return Op(name, name + text, parameters, results), LineError(**parsed["error"])
