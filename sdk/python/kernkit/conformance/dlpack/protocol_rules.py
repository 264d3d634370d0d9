# SPDX-License-Identifier: Apache-2.0
"""Rules about the methods, the capsule and its version."""

from ..rule import MUST, SHOULD, Broken, NotApplicable, Rules, described
from . import sources
from .capsule import LEGACY
from .exporting import NEWEST, export, exported, raised, require_keyword
from .producers import Producer
from .structures import IS_COPIED, READ_ONLY, SUBBYTE_PADDED

RULES = Rules()


@RULES.add(MUST, sources.PYTHON)
def methods(producer: Producer) -> None:
    """An array has the methods `__dlpack__` and `__dlpack_device__`."""
    array = producer.make((2, 3))
    if missing := [name for name in ("__dlpack__", "__dlpack_device__") if not callable(getattr(array, name, None))]:
        raise Broken(f"{type(array).__name__} has no {' and no '.join(missing)}")


@RULES.add(MUST, sources.METHOD)
def legacy_capsule(producer: Producer) -> None:
    """`__dlpack__()` without `max_version`, as an old consumer calls it, returns a capsule named `dltensor` or raises BufferError."""
    try:
        capsule = export(producer.make((2, 3)))
    except BufferError as error:
        raise NotApplicable(f"the package does not support exports without max_version: {described(error)}") from error
    if capsule.is_versioned:
        raise Broken("the capsule is named dltensor_versioned; a consumer without max_version reads a DLManagedTensor")


@RULES.add(SHOULD, sources.METHOD)
def versioned_capsule(producer: Producer) -> None:
    """`__dlpack__(max_version=(1, 0))` returns a capsule named `dltensor_versioned`."""
    if not require_keyword(producer.make((2, 3)), max_version=(1, 0)).is_versioned:
        raise Broken("the capsule is named dltensor")


@RULES.add(MUST, sources.VERSION)
def version(producer: Producer) -> None:
    """A versioned capsule has major version 1, whose structure the consumer supports, and a minor version that has been
    released."""
    capsule = require_keyword(producer.make((2, 3)), max_version=NEWEST)
    if not capsule.is_versioned:
        raise NotApplicable("the capsule has no version")
    major, minor = capsule.version
    if major != 1 or minor > 20:
        raise Broken(f"the capsule has version {major}.{minor}; expected major version 1 and a released minor version")


@RULES.add(MUST, sources.METHOD)
def newer_consumer(producer: Producer) -> None:
    """An export with `max_version=(2, 0)`, for a consumer of a newer major version, returns a capsule that this
    consumer can read, or raises BufferError."""
    try:
        capsule = export(producer.make((2, 3)), max_version=(2, 0))
    except BufferError:
        return
    if capsule.is_versioned and capsule.version[0] not in (1, 2):
        raise Broken(f"the capsule has version {capsule.version[0]}.{capsule.version[1]}; expected major version 1 or 2")


@RULES.add(MUST, sources.METHOD)
def older_consumer(producer: Producer) -> None:
    """An export with `max_version=(0, 8)`, for a consumer of major version 0, returns a capsule named `dltensor` or
    raises BufferError."""
    try:
        capsule = export(producer.make((2, 3)), max_version=(0, 8))
    except BufferError:
        return
    if capsule.name != LEGACY:
        raise Broken("the capsule is named dltensor_versioned; a consumer with max_version=(0, 8) accepts only a capsule named dltensor")


@RULES.add(MUST, sources.METHOD)
def keywords(producer: Producer) -> None:
    """`__dlpack__` accepts the keywords `stream`, `max_version`, `dl_device` and `copy` with the value None."""
    require_keyword(producer.make((2, 3)), stream=None, max_version=None, dl_device=None, copy=None)


@RULES.add(SHOULD, sources.METHOD)
def unknown_keyword(producer: Producer) -> None:
    """An export with an unknown keyword raises TypeError, so that a consumer can repeat the call without the
    keyword."""
    error = raised(producer.make((2, 3)), no_such_keyword=None)
    if not isinstance(error, TypeError):
        raise Broken(described(error) if error else "the export accepts the keyword no_such_keyword; expected TypeError")


@RULES.add(MUST, sources.FLAGS)
def flags(producer: Producer) -> None:
    """A versioned capsule has only flags that DLPack defines, and has IS_SUBBYTE_TYPE_PADDED only for a dtype of less
    than 8 bits."""
    capsule = exported(producer.make((2, 3)))
    if capsule.flags & ~(READ_ONLY | IS_COPIED):
        raise Broken(f"the flags of a float32 array are {capsule.flags:#x}; READ_ONLY is {READ_ONLY}, IS_COPIED is {IS_COPIED}, "
                     f"IS_SUBBYTE_TYPE_PADDED is {SUBBYTE_PADDED}")  # fmt: skip
