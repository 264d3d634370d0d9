# SPDX-License-Identifier: Apache-2.0
"""Reads and writes safetensors files: the size of the header, the header, which is a JSON object that describes the
data, and the data."""

import errno
import json
import os
import pathlib
import stat
import struct
from typing import Any, Dict, List, Mapping, Tuple

from ..errors import UserError

_MOST_HEADER = 1 << 24  # bytes


def read_file(path: pathlib.Path, most: int) -> bytes:
    """Returns the content of a file of a recording. Raises OSError for a symbolic link, which could lead outside the
    recording, and for any other file that is not a regular file. Raises ValueError if the file has more than `most`
    bytes."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a symbolic link, which a recording must not contain", str(path))
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(file, "rb") as stream:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file", str(path))
        if status.st_size > most:
            raise ValueError(f"the file has {status.st_size} bytes; at most {most} are supported")
        return stream.read(status.st_size)


def read(path: pathlib.Path) -> Dict[str, bytes]:
    """Returns {entry: its bytes}. Raises UserError if the file cannot be read, has more than 2**37 bytes, or is not a
    valid safetensors file."""
    try:
        data = read_file(path, 1 << 37)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    try:
        if len(data) < 8:
            raise ValueError(f"the file has {len(data)} bytes, less than the 8 bytes of the header's size")
        (size,) = struct.unpack_from("<Q", data)
        if size > _MOST_HEADER:
            raise ValueError(f"the header has {size} bytes; at most {_MOST_HEADER} are supported")
        if size > len(data) - 8:
            raise ValueError(f"the header has {size} bytes, of which the file contains {len(data) - 8}")
        header: Any = json.loads(data[8 : 8 + size].decode("utf-8", "surrogateescape"))
        content = memoryview(data)[8 + size :]
        entries = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            offsets = entry["data_offsets"]
            if not (len(offsets) == 2 and type(offsets[0]) is type(offsets[1]) is int and 0 <= offsets[0] <= offsets[1] <= len(content)):
                raise ValueError(f"the data_offsets of the entry {name!r} are invalid or past the end of the file")
            entries[name] = bytes(content[offsets[0] : offsets[1]])
        return entries
    except ValueError as error:
        raise UserError(f"{path} is not a valid safetensors file: {error}") from None
    except (KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{path} is not a valid safetensors file: the header is not a JSON object in which each entry has data_offsets") from None


def write(path: pathlib.Path, entries: Mapping[str, Tuple[str, List[int], bytes]]) -> None:
    """Writes {entry: (dtype, shape, bytes)} to a new file."""
    header: Dict[str, Any] = {"__metadata__": {"format": "kernkit"}}
    at = 0
    for name, (dtype, shape, content) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(content)]}
        at += len(content)
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogateescape")
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, content in entries.values():
            file.write(content)
