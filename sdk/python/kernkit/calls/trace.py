# SPDX-License-Identifier: Apache-2.0
"""Reads the file of KERNKIT_TRACE: a ring buffer with the last calls of a process.

kernkit/logging/impl/trace.h defines the layout. The file is untrusted input: a process can have ended while it
wrote an entry, and the file can be damaged.
"""

import pathlib
import struct
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from ..errors import UserError
from .dtypes import device_name, dtype_name

_MAGIC = b"kktrace\0"
_HEADER = struct.Struct("=8s6I3Q2I4Q")
_HEADER_BYTES, _OPS, _OP_BYTES, _CALLS, _CALL_BYTES = 4096, 1024, 512, 4096, 256
_CALL = struct.Struct("=3Q2IH2B2H2Q")
_LAYOUT = (1, _HEADER_BYTES, _OPS, _OP_BYTES, _CALLS, _CALL_BYTES)
SIZE = _HEADER_BYTES + _OPS * _OP_BYTES + _CALLS * _CALL_BYTES
_STATES = {1: "did not return", 2: "ok", 3: "failed"}


class Call(NamedTuple):
    """One call in the trace."""

    number: int
    library: str
    op: str
    arguments: str  # arguments as text, in the notation of the log
    stream: int
    pid: int
    tid: int
    began: float  # seconds since 1970
    state: str  # state of the call: a value of _STATES
    microseconds: Optional[float]  # duration [us], or None if the call did not return


class Trace(NamedTuple):
    pid: int
    total: int  # number of calls of the process, including calls that the ring buffer no longer contains
    calls: List[Call]  # the last calls, in the order in which they began


def _printable(data: bytes) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in data.decode("utf-8", "replace"))


def _float(value: float) -> str:
    return repr(value)


class _Arguments:
    """Decodes the arguments of one call in the trace to text."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> Tuple[Any, ...]:
        values = struct.unpack_from("=" + layout, self.data, self.at)  # raises struct.error past the end of the data
        self.at += struct.calcsize("=" + layout)
        return values

    def next(self) -> str:
        (kind,) = self.take("c")
        if kind == b"0":
            return "None"
        if kind == b"i":
            return str(self.take("q")[0])
        if kind == b"b":
            return "true" if self.take("B")[0] else "false"
        if kind == b"f":
            return _float(self.take("d")[0])
        if kind == b"d":
            return dtype_name(*self.take("BBH"))
        if kind == b"D":
            return device_name(*self.take("ii"))
        if kind in b"sS":
            (size,) = self.take("B")
            (text,) = self.take(f"{size}s")
            return f'"{_printable(text)}' + ('..."' if kind == b"S" else '"')
        if kind == b"o":
            return f"an object of type index {self.take('i')[0]}"
        if kind in b"tT":
            ndim, strided = self.take("BB")
            dtype, device = dtype_name(*self.take("BBH")), device_name(*self.take("ii"))
            sizes = list(self.take(f"{ndim}{'I' if kind == b't' else 'q'}"))
            return f"{dtype}{sizes} {device}" + (" strided" if strided else "")
        raise ValueError(f"type {kind!r}")


def _ops(data: bytes) -> List[Tuple[str, str, List[str]]]:
    """Returns (library, op, names of parameters) for each op in the trace."""
    ops = []
    for i in range(_OPS):
        entry = data[_HEADER_BYTES + i * _OP_BYTES :][:_OP_BYTES]
        parts = entry[4:].split(b"\0")
        is_complete = entry[:4] != bytes(4) and len(parts) >= 3
        library, op, names = parts[:3] if is_complete else (b"", b"", b"")
        ops.append((_printable(library), _printable(op) or f"op {i}", [_printable(name) for name in names.split(b",")[:-1]]))
    return ops


def _arguments(data: bytes, names: List[str], encoded: int, passed: int) -> str:
    reader, texts = _Arguments(data), []
    try:
        for i in range(encoded):
            name = names[i] if i < len(names) else f"argument_{i + 1}"
            texts.append(f"{name}={reader.next()}")
    except (struct.error, ValueError):
        texts.append("(damaged)")
    if passed > len(texts):
        texts.append(f"and {passed - len(texts)} more")
    return ", ".join(texts)


class _Clock:
    """Converts ticks of the processor's time-stamp counter to seconds since 1970. `first` and `last` are pairs (ticks,
    nanoseconds since 1970)."""

    def __init__(self, first: Tuple[int, int], last: Tuple[int, int]) -> None:
        ticks, nanoseconds = last[0] - first[0], last[1] - first[1]
        self.first, self.period = first, nanoseconds / ticks if ticks > 0 and nanoseconds > 0 else 0.0

    def seconds(self, ticks: int) -> float:
        return (self.first[1] + (ticks - self.first[0]) * self.period) / 1e9


def _calls(data: bytes, clock: _Clock) -> Iterator[Call]:
    ops = _ops(data)
    for i in range(_CALLS):
        at = _HEADER_BYTES + _OPS * _OP_BYTES + i * _CALL_BYTES
        number, begin, end, tid, pid, op, state, passed, size, encoded, stream, _ = _CALL.unpack_from(data, at)
        if number == 0 or (number - 1) % _CALLS != i or op >= _OPS or state not in _STATES:
            continue  # an empty entry, or an entry that the process had not completed when it ended
        library, name, parameters = ops[op]
        start = at + _CALL.size
        arguments = _arguments(data[start : min(start + size, at + _CALL_BYTES)], parameters, min(encoded, 255), passed)
        duration = (end - begin) * clock.period / 1000 if state != 1 and end >= begin else None
        yield Call(number, library, name, arguments, stream, pid, tid, clock.seconds(begin), _STATES[state], duration)


def read(path: pathlib.Path) -> Trace:
    """Returns the trace in a file. Raises UserError if the file is not a trace of this version of kernkit."""
    if not path.is_file():
        raise UserError(f"{path} is not a file")
    with open(path, "rb") as file:
        data = file.read(SIZE + 1)
    if data[:8] != _MAGIC:
        raise UserError(f"{path} is not a trace of KERNKIT_TRACE")
    if len(data) != SIZE or _HEADER.unpack_from(data)[1:7] != _LAYOUT:
        raise UserError(f"{path} is a trace of another version of kernkit, or is incomplete")
    header = _HEADER.unpack_from(data)
    clock = _Clock(header[12:14], header[14:16])
    return Trace(header[7], header[9], sorted(_calls(data, clock), key=lambda call: call.number))
