# SPDX-License-Identifier: Apache-2.0
"""What can be read of a built library with pyelftools, for the rules of `kernkit doctor`."""

import dataclasses
import itertools
import pathlib
import re
from typing import Any, Dict, Iterator, List, Set

from ..errors import UserError
from .elf import read_file
from .fatbin import FatbinError, read_architectures
from .identity import read_identity
from .manylinux import Version, version_of
from .ops import read_lines
from .startup import flushes_subnormals

_OP = re.compile(r"__tvm_ffi_(?!_metadata_|_doc_|_backward_|_library_ctx$)(.+)")
_DF_SYMBOLIC, _DF_1_NODELETE = 0x2, 0x8


@dataclasses.dataclass(frozen=True)
class Library:
    """What the rules read."""

    path: pathlib.Path
    machine: str  # as in a wheel's tag
    exported: Set[str]
    unique: Set[str]
    undefined: Dict[str, str]  # symbol to version, as in GLIBC_2.34, or ""
    versions: Set[str]  # all that are asked for, also for no symbol: GLIBC_ABI_DT_RELR
    needed: List[str]
    is_symbolic: bool
    is_nodelete: bool
    lines: List[str]  # schemas
    architectures: List[str]
    fatbin_error: str
    flushes: bool  # its start-up code makes subnormals zero in the thread that loads it
    identity: Dict[str, str]  # as read_identity() gives it

    @property
    def ops(self) -> Set[str]:
        """By their exported symbols."""
        return {found[1] for found in map(_OP.fullmatch, self.exported) if found}

    def needs(self) -> Dict[str, Version]:
        """The highest version of each kind of symbol that must be there, as in {"GLIBC": (2, 34)}."""
        needs: Dict[str, Version] = {}
        for text in self.versions - {""}:
            kind, version = version_of(text)
            needs[kind] = max(needs.get(kind, ()), version)
        return needs


def _version_names(elf: Any, file_size: int) -> Dict[int, str]:
    """The versions that are asked for, by the number that symbols have for them."""
    names: Dict[int, str] = {}
    needs = elf.get_section_by_name(".gnu.version_r")
    if needs is not None:
        if needs["sh_info"] > min(needs["sh_size"], file_size) // 16:  # bytes of each
            raise ValueError("there are more needed versions than their section has room for")
        for _, versions in needs.iter_versions():
            names.update({version["vna_other"]: version.name for version in versions})
    return names


def _versions(elf: Any, names: Dict[int, str]) -> Iterator[str]:
    """Of each dynamic symbol, in order, the version that is asked for."""
    table = elf.get_section_by_name(".gnu.version")
    if table is None:
        yield from itertools.repeat("")
        return
    for symbol in table.iter_symbols():
        index = symbol["ndx"]
        yield names.get(index & 0x7FFF, "") if isinstance(index, int) else ""


def read_library(path: pathlib.Path) -> Library:
    """Reads the file. Refuses what is no shared library, or is damaged."""
    try:
        from elftools.elf.dynamic import DynamicSection
        from elftools.elf.elffile import ELFFile
    except ImportError:
        raise UserError("pyelftools is not installed; type: pip install pyelftools") from None
    read_file(path)
    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            dynamic = [s for s in elf.iter_sections() if isinstance(s, DynamicSection)]
            symbols: Any = elf.get_section_by_name(".dynsym")
            if not dynamic or symbols is None:
                raise UserError(f"{path} is not a shared library, or its section headers were removed")
            tags: List[Any] = [(tag.entry.d_tag, tag) for tag in dynamic[0].iter_tags()]
            flags = {name: tag.entry.d_val for name, tag in tags if name.startswith("DT_FLAGS")}
            names = _version_names(elf, path.stat().st_size)
            exported, unique, undefined = set(), set(), {}
            for symbol, version in zip(symbols.iter_symbols(), _versions(elf, names)):
                if symbol["st_info"]["bind"] == "STB_LOCAL":  # a section, which ld for aarch64 leaves there
                    continue
                if symbol["st_shndx"] == "SHN_UNDEF":
                    if symbol.name:
                        undefined[symbol.name] = version
                    continue
                exported.add(symbol.name)
                if symbol["st_info"]["bind"] == "STB_LOOS":
                    unique.add(symbol.name)
            needed = [tag.needed for name, tag in tags if name == "DT_NEEDED"]
            flushes = flushes_subnormals(elf)
            machine = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}.get(
                elf["e_machine"], str(elf["e_machine"]))  # fmt: skip
    except UserError:
        raise
    except Exception as error:  # pyelftools trusts what it reads, so anything can come of it
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise UserError(f"{path} is damaged: {' '.join(reason.split())}") from error
    try:
        architectures, fatbin_error = read_architectures(path), ""
    except FatbinError as error:
        architectures, fatbin_error = [], str(error)
    return Library(
        path=path,
        machine=machine,
        exported=exported,
        unique=unique,
        undefined=undefined,
        versions={*names.values(), *undefined.values()},
        needed=needed,
        is_symbolic="DT_SYMBOLIC" in dict(tags) or bool(flags.get("DT_FLAGS", 0) & _DF_SYMBOLIC),
        is_nodelete=bool(flags.get("DT_FLAGS_1", 0) & _DF_1_NODELETE),
        lines=read_lines(path),
        architectures=architectures,
        fatbin_error=fatbin_error,
        flushes=flushes,
        identity=read_identity(path),
    )
