# SPDX-License-Identifier: Apache-2.0
"""Rules about the library's file, which `kernkit doctor` also applies: whether the library can be
loaded beside other libraries."""

from ...binaries import rules
from ..rule import MUST, SHOULD, Broken, NotApplicable, Rules
from . import sources
from .subject import Subject

RULES = Rules()


def _require(finding: rules.Finding) -> None:
    if not finding.ok:
        raise Broken(finding.text)


@RULES.add(MUST, sources.SYMBOLS)
def exported_functions(subject: Subject) -> None:
    """The library exports at least one function `__tvm_ffi_NAME`, and exports metadata and documentation only for names
    of exported functions."""
    names = subject.file.ops
    prefixes = ("__tvm_ffi__metadata_", "__tvm_ffi__doc_")
    described = {symbol[len(prefix) :] for symbol in subject.file.exported for prefix in prefixes if symbol.startswith(prefix)}
    if not names and not described:
        raise NotApplicable("the library exports no function __tvm_ffi_*")
    if without := described - names:
        raise Broken(f"{', '.join(sorted(without)[:5])}: metadata or documentation without an exported function")


@RULES.add(SHOULD, sources.OWN)
def unique_symbols(subject: Subject) -> None:
    """No symbol is process-wide (GNU_UNIQUE), because two libraries would share the symbol's definition."""
    _require(rules.check_unique(subject.file))


@RULES.add(SHOULD, sources.OWN)
def bound_to_itself(subject: Subject) -> None:
    """References of the library to its own symbols are bound inside the library (-Bsymbolic), so that another library
    cannot replace the symbols."""
    _require(rules.check_itself(subject.file))


@RULES.add(SHOULD, sources.OWN)
def stays_mapped(subject: Subject) -> None:
    """The library stays mapped (-z nodelete), so that the deleter of an object never points to unmapped code."""
    _require(rules.check_nodelete(subject.file))


@RULES.add(SHOULD, sources.OWN)
def startup_code(subject: Subject) -> None:
    """No start-up code makes the thread that loads the library flush subnormals to zero."""
    _require(rules.check_startup(subject.file))
