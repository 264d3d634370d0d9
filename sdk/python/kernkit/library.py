# SPDX-License-Identifier: Apache-2.0
"""What can be read of a built library with pyelftools, for the rules of `kernkit doctor`."""

import dataclasses
import pathlib
import re
from typing import Any, Dict, Iterator, List, Set

from .cli import Refusal
from .elf import read_file
from .fatbin import FatbinError, read_architectures
from .manylinux import Version, parse_version
from .schema import read_lines

_OP = re.compile(r"__tvm_ffi_(?!_metadata_|_doc_|_library_ctx$)(.+)")
_DF_SYMBOLIC, _DF_1_NODELETE = 0x2, 0x8


@dataclasses.dataclass(frozen=True)
class Library:
    """What the rules read."""

    path: pathlib.Path
    machine: str  # as in a wheel's tag
    exported: Set[str]
    unique: Set[str]
    undefined: Dict[str, str]  # symbol to version, as in GLIBC_2.34, or ""
    needed: List[str]
    is_symbolic: bool
    is_nodelete: bool
    lines: List[str]  # schemas
    architectures: List[str]
    fatbin_error: str

    @property
    def ops(self) -> Set[str]:
        """By their exported symbols."""
        return {found[1] for found in map(_OP.fullmatch, self.exported) if found}

    def needs(self) -> Dict[str, Version]:
        """The highest version of each kind of symbol that must be there."""
        needs: Dict[str, Version] = {}
        for text in self.undefined.values():
            kind, _, number = text.partition("_")
            version = parse_version(number)
            if version:
                needs[kind] = max(needs.get(kind, ()), version)
        return needs


def _versions(elf: Any) -> Iterator[str]:
    """Of each dynamic symbol, in order, the version that is asked for."""
    names = {}
    needs = elf.get_section_by_name(".gnu.version_r")
    if needs is not None:
        for _, versions in needs.iter_versions():
            names.update({version["vna_other"]: version.name for version in versions})
    table = elf.get_section_by_name(".gnu.version")
    for symbol in table.iter_symbols() if table is not None else ():
        index = symbol["ndx"]
        yield names.get(index & 0x7FFF, "") if isinstance(index, int) else ""


def read_library(path: pathlib.Path) -> Library:
    """Reads the file. Refuses what is no shared library, or is damaged."""
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.dynamic import DynamicSection
        from elftools.elf.elffile import ELFFile
    except ImportError:
        raise Refusal("pyelftools is not installed; type: pip install pyelftools") from None
    read_file(path)
    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            dynamic = [s for s in elf.iter_sections() if isinstance(s, DynamicSection)]
            symbols: Any = elf.get_section_by_name(".dynsym")
            if not dynamic or symbols is None:
                raise Refusal(f"{path} is no shared library, or its section headers were removed")
            tags: List[Any] = [(tag.entry.d_tag, tag) for tag in dynamic[0].iter_tags()]
            flags = {name: tag.entry.d_val for name, tag in tags if name.startswith("DT_FLAGS")}
            versions = list(_versions(elf)) or [""] * symbols.num_symbols()
            exported, unique, undefined = set(), set(), {}
            for symbol, version in zip(symbols.iter_symbols(), versions):
                if symbol["st_shndx"] == "SHN_UNDEF":
                    if symbol.name:
                        undefined[symbol.name] = version
                    continue
                exported.add(symbol.name)
                if symbol["st_info"]["bind"] == "STB_LOOS":
                    unique.add(symbol.name)
            machine = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}.get(
                elf["e_machine"], str(elf["e_machine"]))  # fmt: skip
    except (ELFError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} is damaged: {error}") from error
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
        needed=[tag.needed for name, tag in tags if name == "DT_NEEDED"],
        is_symbolic="DT_SYMBOLIC" in dict(tags) or bool(flags.get("DT_FLAGS", 0) & _DF_SYMBOLIC),
        is_nodelete=bool(flags.get("DT_FLAGS_1", 0) & _DF_1_NODELETE),
        lines=read_lines(path),
        architectures=architectures,
        fatbin_error=fatbin_error,
    )
