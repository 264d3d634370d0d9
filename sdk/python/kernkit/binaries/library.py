# SPDX-License-Identifier: Apache-2.0
"""The properties of a built library that the rules of `kernkit doctor` examine."""

import dataclasses
import pathlib
import re
from typing import Dict, List, Set

from ..errors import UserError
from .elf import DT_FLAGS, DT_FLAGS_1, DT_SYMBOLIC, GNU_UNIQUE, LOCAL, ElfFile
from .fatbin import FatbinError, read_architectures
from .glibc import Version, version_of
from .identity import read_identity
from .ops import read_lines
from .startup import flushes_subnormals

_OP = re.compile(r"__tvm_ffi_(?!_metadata_|_doc_|_backward_|_library_(?:ctx|bin)$)(.+)")
_DF_SYMBOLIC, _DF_1_NODELETE = 0x2, 0x8


@dataclasses.dataclass(frozen=True)
class Library:
    """Properties of one built library, read from the file."""

    path: pathlib.Path
    machine: str  # processor as in the tag of a wheel, such as "x86_64"
    exported: Set[str]
    unique: Set[str]
    undefined: Dict[str, str]  # {undefined symbol: its version, as in "GLIBC_2.34", or ""}
    versions: Set[str]  # needed versions, including versions without a symbol, such as GLIBC_ABI_DT_RELR
    needed: List[str]
    is_symbolic: bool
    is_nodelete: bool
    lines: List[str]  # schema lines
    architectures: List[str]
    fatbin_error: str
    flushes: bool  # whether start-up code makes the loading thread flush subnormals to zero
    identity: Dict[str, str]  # see read_identity()

    @property
    def ops(self) -> Set[str]:
        """Returns the names of the ops that have an exported symbol."""
        return {match[1] for match in map(_OP.fullmatch, self.exported) if match}

    def needs(self) -> Dict[str, Version]:
        """Returns {kind of version: the highest version that the library needs}, as in {"GLIBC": (2, 34)}."""
        needs: Dict[str, Version] = {}
        for text in self.versions - {""}:
            kind, version = version_of(text)
            needs[kind] = max(needs.get(kind, ()), version)
        return needs


def read_library(path: pathlib.Path) -> Library:
    """Returns the properties of a shared library. Raises UserError if the file is not a shared library, or if it is
    damaged."""
    file = ElfFile(path)
    dynamic, symbols = file.dynamic(), file.symbols()
    if dynamic is None or symbols is None:
        raise UserError(f"{path} is not a shared library, or its section headers were removed; name the file that the linker wrote")
    flags = dict(dynamic)
    names = file.needed_versions()
    # Local symbols are skipped: ld for aarch64 leaves symbols of sections in the dynamic symbol table.
    undefined = {symbol.name: symbol.version for symbol in symbols if symbol.is_undefined and symbol.binding != LOCAL and symbol.name}
    defined = [symbol for symbol in symbols if not symbol.is_undefined and symbol.binding != LOCAL]
    try:
        architectures, fatbin_error = read_architectures(path), ""
    except FatbinError as error:
        architectures, fatbin_error = [], str(error)
    return Library(
        path=path,
        machine=file.machine,
        exported={symbol.name for symbol in defined},
        unique={symbol.name for symbol in defined if symbol.binding == GNU_UNIQUE},
        undefined=undefined,
        versions={*names.values(), *undefined.values()},
        needed=file.needed(),
        is_symbolic=DT_SYMBOLIC in flags or bool(flags.get(DT_FLAGS, 0) & _DF_SYMBOLIC),
        is_nodelete=bool(flags.get(DT_FLAGS_1, 0) & _DF_1_NODELETE),
        lines=read_lines(path),
        architectures=architectures,
        fatbin_error=fatbin_error,
        flushes=flushes_subnormals(file),
        identity=read_identity(path),
    )
