# SPDX-License-Identifier: Apache-2.0
"""The ops of a built library: schema lines and documentation, read from sections of the file.

The library is not loaded.
"""

import pathlib
from typing import Dict, List

from ..errors import UserError
from ..schema import Op, SchemaError, parse
from .elf import read_section


def read_texts(path: pathlib.Path, section: str) -> List[str]:
    """The NUL-terminated texts of a section. The linker pads the section with NUL."""
    content = read_section(path, section) or b""
    return [text.decode(errors="replace") for text in content.split(b"\0") if text]


def read_docs(path: pathlib.Path) -> Dict[str, str]:
    """{op: its documentation}. The section has texts "name: documentation"."""
    return dict(text.partition(": ")[::2] for text in read_texts(path, "kernkit_doc"))


def read_lines(path: pathlib.Path) -> List[str]:
    """The schema lines of a library, sorted by the op's name, with which a line begins."""
    return sorted(read_texts(path, "kernkit_schema"), key=lambda line: line.partition("(")[0])


def read_ops(path: pathlib.Path) -> List[Op]:
    """The ops of a library, sorted by name. The library is not loaded."""
    docs = read_docs(path)
    try:
        return [parse(line, docs.get(line.partition("(")[0], "")) for line in read_lines(path)]
    except SchemaError as error:
        raise UserError(f"{path}: this kernkit cannot read the schema line {error}") from error
