# SPDX-License-Identifier: Apache-2.0
"""A reader of 64-bit ELF files, for the sections, symbols and dynamic entries that kernkit needs.

The reader uses only Python's standard library: the build of a library runs `kernkit bindings`, possibly with a Python
that has no packages.
"""

import contextlib
import itertools
import pathlib
import struct
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..errors import UserError

# Types of sections.
PROGBITS, SYMTAB, RELA, DYNAMIC, NOBITS, DYNSYM = 1, 2, 4, 6, 8, 11
_VERNEED, _VERSYM = 0x6FFFFFFE, 0x6FFFFFFF
EXECUTABLE = 4  # a section's flag
# Tags of dynamic entries, as in <elf.h>.
DT_NULL, DT_NEEDED, DT_SYMBOLIC, DT_FLAGS, DT_FLAGS_1 = 0, 1, 16, 30, 0x6FFFFFFB
LOCAL, GNU_UNIQUE = 0, 10  # bindings of symbols
MACHINES = {62: "x86_64", 183: "aarch64"}


class Section(NamedTuple):
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int  # sh_link: index of a related section, such as the string table of a symbol table


class Symbol(NamedTuple):
    name: str
    binding: int
    is_undefined: bool
    version: str  # version of an undefined symbol, such as "GLIBC_2.34"; "" without a version


class ElfFile:
    """The content of an ELF file. Every method raises UserError if the file is damaged."""

    def __init__(self, path: pathlib.Path) -> None:
        """Reads the file. Raises UserError if the file cannot be read, is not a 64-bit ELF file, or is damaged."""
        self.path = path
        self.content = _read(path)
        self.order = "<" if self.content[5:6] == b"\x01" else ">"
        with self._damage():
            (self.machine_number,) = struct.unpack_from(self.order + "H", self.content, 18)
            self.sections = self._sections()

    @property
    def machine(self) -> str:
        """Returns the name of the processor as in the tag of a wheel, such as "x86_64", or "machine N" if MACHINES
        lacks the file's machine number N."""
        return MACHINES.get(self.machine_number, f"machine {self.machine_number}")

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            raise UserError(f"{self.path} is damaged: {' '.join(str(error).split())}") from error

    def _sections(self) -> List[Section]:
        (table,) = struct.unpack_from(self.order + "Q", self.content, 40)
        size, count, names = struct.unpack_from(self.order + "HHH", self.content, 58)
        if table == 0 or count == 0:
            return []
        header = struct.Struct(self.order + "IIQQQQI")
        headers = [header.unpack_from(self.content, table + index * size) for index in range(count)]
        first_name = headers[names][4]
        return [Section(_text(self.content, first_name + name), *fields) for name, *fields in headers]

    def section(self, name: str) -> Optional[Section]:
        """Returns the first section of this name that has content in the file, or None if no section matches."""
        return next((section for section in self.sections if section.name == name and section.kind != NOBITS), None)

    def read(self, section: Optional[Section]) -> bytes:
        """Returns the content of a section, or b"" if `section` is None or has no content in the file."""
        if section is None or section.kind == NOBITS:
            return b""
        if section.offset + section.size > len(self.content):
            raise UserError(f"{self.path} is damaged: section {section.name} ends past the end of the file")
        return self.content[section.offset : section.offset + section.size]

    def _of_kind(self, kind: int) -> Optional[Section]:
        return next((section for section in self.sections if section.kind == kind), None)

    def _entries(self, section: Section, form: str) -> Iterator[Tuple[int, ...]]:
        entry = struct.Struct(self.order + form)
        content = self.read(section)
        return entry.iter_unpack(content[: len(content) // entry.size * entry.size])

    def _names(self, section: Section) -> bytes:
        """Returns the content of the string table to which a section refers."""
        return self.read(self.sections[section.link])

    def dynamic(self) -> Optional[List[Tuple[int, int]]]:
        """Returns (tag, value) of each dynamic entry, or None if the file has no dynamic section."""
        section = self._of_kind(DYNAMIC)
        if section is None:
            return None
        entries = ((tag, value) for tag, value in self._entries(section, "QQ"))
        return list(itertools.takewhile(lambda entry: entry[0] != DT_NULL, entries))

    def needed(self) -> List[str]:
        """Returns the names of the shared libraries in the file's DT_NEEDED entries."""
        section = self._of_kind(DYNAMIC)
        if section is None:
            return []
        try:
            names = self._names(section)
            return [_text(names, value, "strict") for tag, value in self.dynamic() or [] if tag == DT_NEEDED]
        except (ValueError, IndexError):
            raise UserError(f"{self.path} is damaged: .dynamic refers to a name that .dynstr does not contain; build the file "
                            "again") from None  # fmt: skip

    def needed_versions(self) -> Dict[int, str]:
        """Returns {version index of a symbol: name of the required version, as in "GLIBC_2.34"}."""
        section = self._of_kind(_VERNEED)
        versions: Dict[int, str] = {}
        if section is None:
            return versions
        with self._damage():
            content, names = self.read(section), self._names(section)
            library_at, more = 0, 1
            while more:
                _, count, _, first, more = struct.unpack_from(self.order + "HHIII", content, library_at)
                at = library_at + first
                for _ in range(count):
                    _, _, index, name, following = struct.unpack_from(self.order + "IHHII", content, at)
                    versions[index] = _text(names, name)
                    at += following
                library_at += more
        return versions

    def symbols(self) -> Optional[List[Symbol]]:
        """Returns the dynamic symbols, or None if the file has no table of dynamic symbols."""
        section = self._of_kind(DYNSYM)
        if section is None:
            return None
        versions = self.needed_versions()
        indices = self._of_kind(_VERSYM)
        numbers = [number for (number,) in self._entries(indices, "H")] if indices else []
        with self._damage():
            names = self._names(section)
            symbols = []
            for (name, info, _, index, _, _), number in zip(self._entries(section, "IBBHQQ"), itertools.chain(numbers, itertools.repeat(0))):
                symbols.append(Symbol(_text(names, name), info >> 4, index == 0, versions.get(number & 0x7FFF, "")))
            return symbols

    def names_of_symbols(self) -> Optional[bytes]:
        """Returns the names in the symbol table, each between two zero bytes, or None for a file without a symbol
        table, such as a stripped file."""
        section = self._of_kind(SYMTAB)
        if section is None:
            return None
        with self._damage():
            return self._names(section)

    def relocations(self) -> Dict[int, int]:
        """Returns {address that a relocation changes: the relocation's addend} for all sections of the type RELA."""
        sections = [section for section in self.sections if section.kind == RELA]
        return {address: addend for section in sections for address, _, addend in self._entries(section, "QQq")}


def _read(path: pathlib.Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    if content[:4] != b"\x7fELF":
        raise UserError(f"{path} is not a shared library: the file has no ELF header")
    if content[4:5] != b"\x02":
        raise UserError(f"{path} is a 32-bit library; kernkit supports 64-bit libraries")
    return content


def _text(content: bytes, at: int, errors: str = "replace") -> str:
    """Returns the NUL-terminated text at offset `at` of `content`. Raises ValueError if the offset or the end of the
    text is past the end of `content`, or if the text is not UTF-8 and `errors` is "strict"."""
    if at >= len(content):
        raise ValueError("a name is past the end of its section")
    end = content.find(b"\0", at)
    if end < 0:
        raise ValueError("a name is not terminated by NUL")
    return content[at:end].decode(errors=errors)


def read_section(path: pathlib.Path, name: str) -> Optional[bytes]:
    """Returns the content of the first section of this name, or None if the file has no such section. Raises UserError
    if the file is not a 64-bit ELF file, or if it is damaged."""
    file = ElfFile(path)
    section = file.section(name)
    return None if section is None else file.read(section)


def exported_symbols(path: pathlib.Path) -> Set[str]:
    """Returns the names of the symbols that a shared library exports, or an empty set for an ELF file without dynamic
    symbols. Raises UserError if the file cannot be read, is not a 64-bit ELF file, or is damaged."""
    return {symbol.name for symbol in ElfFile(path).symbols() or [] if not symbol.is_undefined and symbol.binding != LOCAL}
