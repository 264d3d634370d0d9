# SPDX-License-Identifier: Apache-2.0
"""The ops of a built library: schema lines, their parsed forms and documentation, read from sections of the file.

The library is not loaded.
"""

import json
import pathlib
from typing import Any, Dict, List

from ..errors import UserError
from ..parsed_line import damaged, read_op
from ..schema import Op, SchemaError
from .elf import read_section


def read_texts(path: pathlib.Path, section: str) -> List[str]:
    """Returns the NUL-terminated texts of a section, without the NUL bytes with which the linker pads the section."""
    content = read_section(path, section) or b""
    return [text.decode(errors="replace") for text in content.split(b"\0") if text]


def read_named(path: pathlib.Path, section: str) -> Dict[str, str]:
    """Returns {name: text} for the texts "name: text" of a section."""
    return dict(text.partition(": ")[::2] for text in read_texts(path, section))


def read_docs(path: pathlib.Path) -> Dict[str, str]:
    """Returns {op: the op's documentation}."""
    return read_named(path, "kernkit_doc")


def read_parsed(path: pathlib.Path) -> Dict[str, Any]:
    """Returns {op: JSON object of the op's parsed schema line}. Raises SchemaError if a text of the section is not
    JSON."""
    metadata = {}
    for name, text in read_named(path, "kernkit_parsed").items():
        try:
            metadata[name] = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise damaged(name, error) from None
    return metadata


def read_lines(path: pathlib.Path) -> List[str]:
    """Returns the schema lines of a library, sorted by the name of the op. Each line begins with the name."""
    return sorted(read_texts(path, "kernkit_schema"), key=op_of_line)


def op_of_line(line: str) -> str:
    """Returns the name of the op with which a schema line begins."""
    return line.partition("(")[0]


def read_ops(path: pathlib.Path) -> List[Op]:
    """Returns the ops of a library, sorted by name. Raises UserError if an op has no parsed schema line, or if the line
    has another version of the format."""
    docs = read_docs(path)
    try:
        parsed = read_parsed(path)
        ops = []
        for line in read_lines(path):
            name = op_of_line(line)
            if name not in parsed:
                raise UserError(f"{path}: {name}: no parsed schema line in the file, which an earlier kernkit built; build the "
                                "library again with this kernkit, and keep section kernkit_parsed when stripping")  # fmt: skip
            ops.append(read_op(name, line, parsed[name], docs.get(name, "")))
        return ops
    except SchemaError as error:
        raise UserError(f"{path}: {error}; build the library again with this kernkit, or use the kernkit that built it") from error
