# SPDX-License-Identifier: Apache-2.0
"""Exports arrays as consumers of old and new DLPack versions do."""

from typing import Any, Optional

from ..rule import Broken, described
from .capsule import Capsule

NEWEST = (1, 3)  # (major, minor) of the newest version of dlpack.h


def export(array: Any, **keywords: Any) -> Capsule:
    """Returns the capsule of array.__dlpack__(**keywords). Exceptions of the producer are not caught."""
    return Capsule(array.__dlpack__(**keywords))


def exported(array: Any) -> Capsule:
    """Returns the capsule that a current consumer receives: a versioned capsule, or a capsule without a version if the
    producer does not accept max_version."""
    try:
        return export(array, max_version=NEWEST)
    except TypeError:
        return export(array)


def raised(array: Any, **keywords: Any) -> Optional[Exception]:
    """Returns the exception that array.__dlpack__(**keywords) raises, or None if the call returns a capsule. Raises Broken
    if the result is not a capsule."""
    try:
        export(array, **keywords)
    except Broken:
        raise
    except Exception as error:
        return error
    return None


def require_keyword(array: Any, **keywords: Any) -> Capsule:
    """Returns the capsule of __dlpack__(**keywords). Raises Broken if the export raises an exception, for example
    because the producer does not accept a keyword."""
    try:
        return export(array, **keywords)
    except Broken:
        raise
    except Exception as error:
        text = ", ".join(f"{name}={value}" for name, value in keywords.items())
        raise Broken(f"__dlpack__({text}) raises {described(error)}") from error
