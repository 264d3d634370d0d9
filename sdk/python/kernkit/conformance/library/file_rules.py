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
    """The library exports at least one function `__tvm_ffi_NAME`, and metadata or documentation of no other name."""
    names = subject.file.ops
    prefixes = ("__tvm_ffi__metadata_", "__tvm_ffi__doc_")
    described = {symbol[len(prefix) :] for symbol in subject.file.exported for prefix in prefixes if symbol.startswith(prefix)}
    if not names and not described:
        raise NotApplicable("the library exports no function __tvm_ffi_*")
    if without := described - names:
        raise Broken(f"{', '.join(sorted(without)[:5])}: metadata or documentation, but no function")


@RULES.add(SHOULD, sources.OWN)
def unique_symbols(subject: Subject) -> None:
    """No symbol is process-wide (GNU_UNIQUE), where two libraries would share one definition."""
    _require(rules.check_unique(subject.file))


@RULES.add(SHOULD, sources.OWN)
def bound_to_itself(subject: Subject) -> None:
    """The library's symbols are bound to itself (-Bsymbolic), so that another library cannot replace them."""
    _require(rules.check_itself(subject.file))


@RULES.add(SHOULD, sources.OWN)
def stays_mapped(subject: Subject) -> None:
    """The library stays mapped (-z nodelete), so that the deleter of an object cannot dangle."""
    _require(rules.check_nodelete(subject.file))


@RULES.add(SHOULD, sources.OWN)
def startup_code(subject: Subject) -> None:
    """No start-up code makes subnormals zero for the thread that loads the library."""
    _require(rules.check_startup(subject.file))
