# SPDX-License-Identifier: Apache-2.0
"""Reads the public CMake functions of sdk/cmake/, whose names do not begin with an underscore, and their comments."""

import dataclasses
import pathlib
import re
from typing import List

from public_headers import ROOT

FOLDER = ROOT / "sdk/cmake"
_DEFINITION = re.compile(r"((?:^#.*\n)*)^(?:function|macro)\((kernkit_\w+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Function:
    """A public CMake function or macro."""

    name: str
    file: str  # name of the file in sdk/cmake/ that defines the function
    # Call with all arguments, from the first lines of the comment; "" if the comment does not begin with the call.
    signature: str
    text: str  # the comment without the call


def without_signs(comment: str) -> str:
    return "\n".join(re.sub("^# ?", "", line) for line in comment.splitlines())


def functions_of(path: pathlib.Path) -> List[Function]:
    """Returns the public functions and macros of a file, in the order of the file."""
    found = []
    for comment, name in _DEFINITION.findall(path.read_text()):
        signature, _, text = without_signs(comment).partition("\n\n")
        if not signature.startswith(f"{name}("):
            signature, text = "", without_signs(comment)
        found.append(Function(name, path.name, signature, text.strip("\n")))
    return found


def public_functions() -> List[Function]:
    """Returns the public functions and macros of all files of sdk/cmake/, file by file."""
    return [function for path in sorted(FOLDER.glob("*.cmake")) for function in functions_of(path)]


def introduction(path: pathlib.Path) -> str:
    """Returns the comment at the top of a CMake file, without the licence line."""
    lines = path.read_text().splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return without_signs("\n".join(lines[1:end]))
