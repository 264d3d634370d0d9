# SPDX-License-Identifier: Apache-2.0
"""What a library's start-up code does, read with pyelftools: whether it has set_fast_math() of GCC's
crtfastmath.o, which -ffast-math links. A stripped file has no such name, so that the code is read."""

import re
import struct
from typing import Any, Iterator

_SIZE = 64  # of the code that is read of a function [bytes]
# An or with FTZ and DAZ (0x8040), then ldmxcsr, before a ret; on aarch64 a move to FPCR.
_X86_64 = re.compile(rb"[^\xc3]{0,32}?\x40\x80\x00\x00[^\xc3]{0,16}?\x0f\xae[\x10-\x17\x50-\x57\x90-\x97]", re.DOTALL)
_AARCH64 = re.compile(rb"(?:....)*?[\x00-\x1f]\x44\x1b\xd5", re.DOTALL)


def _start_up(elf: Any) -> Iterator[int]:
    """The addresses of the functions that run when the library is loaded."""
    table = elf.get_section_by_name(".init_array")
    if table is None:
        return
    relocated = {}
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_RELA":
            relocated.update({entry["r_offset"]: entry["r_addend"] for entry in section.iter_relocations()})
    content = table.data()
    for at in range(0, len(content) - 7, 8):
        (stored,) = struct.unpack_from("<Q" if elf.little_endian else ">Q", content, at)
        yield relocated.get(table["sh_addr"] + at, stored) or stored


def _code(elf: Any, address: int) -> bytes:
    """The first bytes of the function at an address."""
    for section in elf.iter_sections():
        start = section["sh_addr"]
        if section["sh_type"] == "SHT_PROGBITS" and section["sh_flags"] & 4 and start <= address < start + section["sh_size"]:
            return bytes(section.data()[address - start : address - start + _SIZE])
    return b""


def flushes_subnormals(elf: Any) -> bool:
    """Whether a function that runs when the library is loaded makes the processor take subnormals for zero."""
    for address in _start_up(elf):
        code = _code(elf, address)
        if elf["e_machine"] == "EM_X86_64" and _X86_64.match(code):
            return True
        if elf["e_machine"] == "EM_AARCH64" and _AARCH64.match(code.partition(b"\xc0\x03\x5f\xd6")[0]):
            return True
    return False
