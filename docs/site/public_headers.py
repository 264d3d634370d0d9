# SPDX-License-Identifier: Apache-2.0
"""The public headers, and copies of them for Doxygen in which each header is a group.

Doxygen lists the members of a namespace without the file that declares them. In the copies a group encloses the
declarations of a header, so that a page can show one header. The copies have the lines of their headers.
"""

import pathlib
import re
from typing import List

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("sdk/include", "sdk/simulator/include")
SUFFIXES = (".h", ".cuh")
# Folders whose headers users do not include: implementations, and former names of headers that include only the new
# names.
PRIVATE_FOLDERS = {"impl", "detail", "cuda_on_cpu"}

# A struct with a typedef for C. The copies have the struct without the typedef.
_C_STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\n\} \1;", re.DOTALL)
# A macro that a header redefines. The macro belongs to the page of the header with the first definition.
_UNDEFINED = re.compile(r"^#undef (\w+)$", re.MULTILINE)
_NAMESPACE = re.compile(r"^\s*namespace (\w+(?:::\w+)*) \{$")
_DEFINITION = re.compile(r"^#\s*define (KERNKIT_\w+)")
# Comments, strings and characters, whose braces do not count. A quote between digits is a separator of digits.
_NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.DOTALL)


def public_headers() -> List[str]:
    """Returns the names of the public headers as sources include them, such as "kernkit/tensor.h", sorted."""
    found = []
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT / folder)
            if path.suffix in SUFFIXES and not PRIVATE_FOLDERS & set(name.parts):
                found.append(str(name))
    return sorted(found)


def source_of(header: str) -> pathlib.Path:
    """Returns the path of a header's file, relative to the repository."""
    return next(pathlib.Path(folder, header) for folder in FOLDERS if (ROOT / folder / header).is_file())


def group_of(header: str) -> str:
    """Returns the name of the header's Doxygen group: kernkit_cpu_rows_h for kernkit/cpu/rows.h."""
    return re.sub(r"\W", "_", header)


def without_private_macros(text: str) -> str:
    """Returns the text of a header without the macros that are defined in a namespace `detail`. An empty line
    replaces each line of a macro."""
    result: List[str] = []
    end = ""  # the line that closes the outermost namespace `detail`
    for line in text.split("\n"):
        opening = _NAMESPACE.match(line)
        if opening and not end and "detail" in opening[1].split("::"):
            end = f"}}  // namespace {opening[1]}"
        elif line == end:
            end = ""
        continues = bool(result) and result[-1] == "\\"
        is_private = continues or bool(end and _DEFINITION.match(line))
        result.append(("\\" if line.endswith("\\") else "") if is_private else line)
    return "\n".join("" if line == "\\" else line for line in result)


def public_macros(header: str) -> List[str]:
    """Returns the names of the public macros that a header defines."""
    lines = without_private_macros((ROOT / source_of(header)).read_text()).split("\n")
    return [found[1] for found in map(_DEFINITION.match, lines) if found]


def grouped(header: str, text: str) -> str:
    """Returns the text of a header with its declarations in the header's group, at the same line numbers. A namespace
    itself is in no group: a group with a namespace would not list the namespace's members."""
    text = _C_STRUCT.sub(r"struct \1 {\2\n};", text)
    text = without_private_macros(text)
    for macro in _UNDEFINED.findall(text):
        text = re.sub(rf"(?:^///.*\n)*^#define {macro}\b(?:.*\\\n)*.*$", lambda found: "\n" * found[0].count("\n"), text,
                      flags=re.MULTILINE)  # fmt: skip
    opened, closed = f"/** @addtogroup {group_of(header)} */ /** @{{ */", "/** @} */"
    code = _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text).split("\n")
    result: List[str] = []
    depth = 0
    scopes: List[int] = []  # depth of braces inside each enclosing namespace
    for line, visible in zip(text.split("\n"), code):
        before, depth = depth, depth + visible.count("{") - visible.count("}")
        opening = _NAMESPACE.match(line)
        if opening and (before == 0 or before in scopes) and depth == before + 1:
            scopes.append(depth)
            line = f"{closed} {line} {opened}"
        elif scopes and depth < scopes[-1]:
            scopes.pop()
            line = f"{closed} }} {opened}"
        elif not line and result and result[-1] == "#pragma once":
            line = opened
        result.append(line)
    return "\n".join(result) + f"\n{closed}\n"
