# SPDX-License-Identifier: Apache-2.0
"""One section of an ELF file, read with the standard library alone: what a build needs. What
`kernkit doctor` reads besides, it reads with pyelftools."""

import pathlib
import struct
from typing import Any, Optional, Tuple

from ..errors import UserError

_NOBITS = 8


def read_file(path: pathlib.Path) -> bytes:
    """The file's bytes. Refuses what cannot be read, and what is no 64-bit ELF file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    if content[:4] != b"\x7fELF":
        raise UserError(f"{path} is not a shared library: it does not begin with the mark of ELF")
    if content[4:5] != b"\x02":
        raise UserError(f"{path} is a 32-bit library; kernkit reads 64-bit ones")
    return content


def read_section(path: pathlib.Path, name: str) -> Optional[bytes]:
    """The bytes of the section called name, or None where there is none.

    Refuses a file that is no ELF file, or that is cut short.
    """
    content = read_file(path)
    order = "<" if content[5:6] == b"\x01" else ">"
    header = struct.Struct(order + "IIQQQQIIQQ")

    def section(index: int) -> Tuple[Any, ...]:
        return header.unpack_from(content, table + index * size)

    try:
        (table,) = struct.unpack_from(order + "Q", content, 40)
        size, count, names = struct.unpack_from(order + "HHH", content, 58)
        if table == 0:
            return None
        first_name = section(names)[4]
        for index in range(count):
            name_at, kind, _, _, offset, length, *_ = section(index)
            end = content.index(b"\0", first_name + name_at)
            if content[first_name + name_at : end] == name.encode() and kind != _NOBITS:
                if offset + length > len(content):
                    raise ValueError
                return content[offset : offset + length]
    except (struct.error, ValueError, OverflowError) as error:
        raise UserError(f"{path} is damaged: its sections lie beyond its end") from error
    return None
