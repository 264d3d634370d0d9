# SPDX-License-Identifier: Apache-2.0
"""Rules about copies and about arrays that must not be written."""

import ctypes
from typing import Any

from ..rule import MUST, SHOULD, Broken, NotApplicable, Rules, described
from . import sources
from .exporting import export, exported, require_keyword
from .producers import Producer
from .structures import IS_COPIED, READ_ONLY

RULES = Rules()


@RULES.add(MUST, sources.METHOD)
def copy_true(producer: Producer) -> None:
    """An export with `copy=True` has memory of its own: a store to this memory does not change the array."""
    array = producer.make((6,))
    copy = require_keyword(array, copy=True, max_version=(1, 0))
    if copy.data == exported(array).data:
        raise Broken("the copy shares the memory of the array")
    if copy.elements() != list(range(6)):
        raise Broken(f"the elements of the copy are {copy.elements()}; expected {list(range(6))}")
    ctypes.memset(copy.data, 0x7F, 4)
    if exported(array).elements() != list(range(6)):
        raise Broken("a store to the copy changes the array")


@RULES.add(MUST, sources.METHOD)
def copied_flag(producer: Producer) -> None:
    """The capsule of an export with `copy=True` has the flag IS_COPIED and not the flag READ_ONLY, because the consumer
    owns the copy."""
    try:
        capsule = export(producer.make((6,)), copy=True, max_version=(1, 0))
    except Exception as error:  # a failure of the copy breaks the rule copy-true, not this rule
        raise NotApplicable(f"copy=True raises {described(error)}") from error
    if not capsule.is_versioned:
        raise NotApplicable("a capsule without a version has no flags")
    if not capsule.flags & IS_COPIED:
        raise Broken(f"the flags of a copy are {capsule.flags:#x}; IS_COPIED is {IS_COPIED}")
    if capsule.flags & READ_ONLY:
        raise Broken("a copy has the flag READ_ONLY")


@RULES.add(MUST, sources.METHOD)
def copy_false(producer: Producer) -> None:
    """An export with `copy=False` has the array's own memory and no flag IS_COPIED, or raises BufferError."""
    array = producer.make((6,))
    try:
        first, second = (export(array, copy=False, max_version=(1, 0)) for _ in range(2))
    except BufferError:
        return
    except TypeError as error:
        raise Broken(f"__dlpack__(copy=False) raises {described(error)}") from error
    if first.data != second.data or first.flags & IS_COPIED:
        raise Broken("with copy=False the export is a copy; expected the array's own memory, or a BufferError")


@RULES.add(MUST, sources.METHOD)
def copy_by_default(producer: Producer) -> None:
    """An export without `copy` has the array's own memory, or the flag IS_COPIED."""
    array = producer.make((6,))
    first, second = exported(array), exported(array)
    if not first.is_versioned:
        raise NotApplicable("a capsule without a version has no flags")
    if (first.data == second.data) == bool(first.flags & IS_COPIED):
        raise Broken("two exports share memory and have the flag IS_COPIED" if first.flags & IS_COPIED else
                     "two exports have memory of their own without the flag IS_COPIED")  # fmt: skip


def _read_only(producer: Producer) -> Any:
    array = producer.read_only((6,))
    if array is None:
        raise NotApplicable("the package has no arrays that must not be written")
    return array


@RULES.add(MUST, sources.FLAGS)
def read_only_flag(producer: Producer) -> None:
    """The versioned capsule of a read-only array has the flag READ_ONLY, or the export raises BufferError."""
    array = _read_only(producer)
    try:
        capsule = export(array, max_version=(1, 0))
    except BufferError:
        return
    if not capsule.is_versioned:
        raise NotApplicable("a capsule without a version has no flags")
    if not capsule.flags & (READ_ONLY | IS_COPIED):
        raise Broken(f"the flags are {capsule.flags:#x}; READ_ONLY is {READ_ONLY}")


@RULES.add(SHOULD, sources.FLAGS)
def read_only_without_version(producer: Producer) -> None:
    """An export of a read-only array without `max_version` raises BufferError, because a capsule without a version
    cannot have the flag READ_ONLY."""
    array = _read_only(producer)
    try:
        export(array)
    except BufferError:
        return
    raise Broken("the export returns a capsule, in which the array looks writable")


@RULES.add(MUST, sources.FLAGS)
def writable_array(producer: Producer) -> None:
    """The versioned capsule of a writable array does not have the flag READ_ONLY."""
    array = producer.make((6,))
    mutable = hasattr(type(array), "__setitem__")
    if mutable:
        try:
            array[0] = array[1]
        except (TypeError, NotImplementedError):
            mutable = False
    if not mutable:
        raise NotApplicable("the array accepts no store to an element")
    if exported(array).flags & READ_ONLY:
        raise Broken("the flag READ_ONLY is set for an array that may be written")
