# SPDX-License-Identifier: Apache-2.0
"""The start-up code of a library: whether it contains set_fast_math() of GCC's crtfastmath.o, which -ffast-math links.

The function is recognised by its machine code, because a stripped file does not contain its name.
"""

import re
import struct
from typing import Iterator

from .elf import EXECUTABLE, PROGBITS, ElfFile

_SIZE = 64  # number of bytes that are examined at the beginning of a function
# Machine code at the beginning of a function. x86-64: an `or` with FTZ and DAZ (0x8040), then ldmxcsr, before a ret.
# aarch64: a move to FPCR.
_X86_64 = re.compile(rb"[^\xc3]{0,32}?\x40\x80\x00\x00[^\xc3]{0,16}?\x0f\xae[\x10-\x17\x50-\x57\x90-\x97]", re.DOTALL)
_AARCH64 = re.compile(rb"(?:....)*?[\x00-\x1f]\x44\x1b\xd5", re.DOTALL)


def _start_up(file: ElfFile) -> Iterator[int]:
    """Yields the addresses of the functions that run when the library is loaded (.init_array)."""
    table = file.section(".init_array")
    if table is None:
        return
    relocated = file.relocations()
    content = file.read(table)
    for at in range(0, len(content) - 7, 8):
        (stored,) = struct.unpack_from(file.order + "Q", content, at)
        yield relocated.get(table.address + at, stored) or stored


def _code(file: ElfFile, address: int) -> bytes:
    """Returns the first _SIZE bytes of the function at `address`, or b"" if no executable section contains the
    address."""
    for section in file.sections:
        is_code = section.kind == PROGBITS and section.flags & EXECUTABLE
        if is_code and section.address <= address < section.address + section.size:
            begin = address - section.address
            return file.read(section)[begin : begin + _SIZE]
    return b""


def flushes_subnormals(file: ElfFile) -> bool:
    """Returns whether a start-up function of the library sets the processor to flush subnormals to zero."""
    for address in _start_up(file):
        code = _code(file, address)
        if file.machine == "x86_64" and _X86_64.match(code):
            return True
        if file.machine == "aarch64" and _AARCH64.match(code.partition(b"\xc0\x03\x5f\xd6")[0]):
            return True
    return False
