# SPDX-License-Identifier: Apache-2.0
"""The GPU architectures for which a library contains code, read from the sections that nvcc writes. Section
__nv_relfatbin contains the objects that nvcc -rdc=true linked.

NVIDIA does not document the format. tests/project/command_line/test_doctor.py compares the result
with the output of CUDA 13's cuobjdump. The functions raise FatbinError for a section of an unknown format.
"""

import pathlib
import struct
from typing import Iterator, List, Tuple

from .elf import read_section

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_MAGIC = 0xBA55ED50
_FATBIN = struct.Struct("<IHHQ")  # magic, version, size of the header [bytes], size of the content [bytes]
# Header of an entry: kind, version, size of the header [bytes], size of the content after the header [bytes]; 12
# unused bytes, architecture; 8 unused bytes, flags.
_ENTRY = struct.Struct("<HHIQ12xI8xQ")
_KINDS = {1: "compute", 2: "sm"}  # {kind of an entry: prefix of the architecture}; kind 1 is PTX, kind 2 is machine code
_FLAG_A, _FLAG_F = 0x100000, 0x200000  # flags of architectures with the suffix a or f, as in sm_90a and sm_100f


class FatbinError(ValueError):
    """Raised for a section of an unknown format. The exception's text is a message for the user."""


def _fat_binaries(path: pathlib.Path, section: str) -> Iterator[List[Tuple[str, int, str]]]:
    content, at = read_section(path, section) or b"", 0
    while at + _FATBIN.size <= len(content):
        magic, _, header_size, size = _FATBIN.unpack_from(content, at)
        if magic == 0:  # padding between fatbins
            at += 8
            continue
        end = at + header_size + size
        if magic != _MAGIC or end > len(content):
            raise FatbinError(f"expected a fatbin at byte {at} of section {section}")
        at += header_size
        entries = []
        while at + _ENTRY.size <= end:
            kind, _, header_size, size, architecture, flags = _ENTRY.unpack_from(content, at)
            if header_size < _ENTRY.size:
                raise FatbinError(f"expected a fatbin entry at byte {at} of section {section}")
            if kind in _KINDS:
                letter = "a" if flags & _FLAG_A else "f" if flags & _FLAG_F else ""
                entries.append((_KINDS[kind], architecture, letter))
            at += header_size + size
        yield entries
        at = end


def read_architectures(path: pathlib.Path) -> List[str]:
    """Returns the architectures of a file's CUDA code in the notation of nvcc's code=. Architectures of machine code,
    such as sm_80 and sm_90a, precede architectures of PTX, such as compute_80. The list is empty for a file without
    CUDA code. Raises FatbinError if a section has an unknown format."""
    entries = {entry for section in SECTIONS for binary in _fat_binaries(path, section) for entry in binary}
    order = sorted(entries, key=lambda entry: (entry[0] != "sm", entry[1], entry[2]))
    return [f"{kind}_{architecture}{letter}" for kind, architecture, letter in order]


def newest_ptx(path: pathlib.Path) -> int:
    """Returns the newest compute capability for which a file contains PTX, such as 80, or 0 without PTX. Ignores a fatbin
    of section __nv_relfatbin that also contains machine code for an older capability, such as the fatbins of NVIDIA's
    libcudadevrt.a. Raises FatbinError if a section has an unknown format."""
    found = [0]
    for section in SECTIONS:
        for entries in _fat_binaries(path, section):
            ptx = [architecture for kind, architecture, _ in entries if kind == "compute"]
            machine_code = [architecture for kind, architecture, _ in entries if kind == "sm"]
            is_linked = section == SECTIONS[1]
            if ptx and not (is_linked and machine_code and min(machine_code) < min(ptx)):
                found.append(max(ptx))
    return max(found)
