# SPDX-License-Identifier: Apache-2.0
"""Exports of an array, as old and new consumers request them."""

from typing import Any, Optional

from ..rule import Broken, described
from .capsule import Capsule

NEWEST = (1, 3)  # the newest version of dlpack.h


def export(array: Any, **keywords: Any) -> Capsule:
    """The capsule of array.__dlpack__(**keywords). Exceptions of the producer are not caught."""
    return Capsule(array.__dlpack__(**keywords))


def exported(array: Any) -> Capsule:
    """The capsule that a consumer of today gets: versioned, or without a version from a producer that lacks the keyword."""
    try:
        return export(array, max_version=NEWEST)
    except TypeError:
        return export(array)


def raised(array: Any, **keywords: Any) -> Optional[Exception]:
    """The exception that an export raises; None if the export returns a capsule."""
    try:
        export(array, **keywords)
    except Broken:
        raise
    except Exception as error:
        return error
    return None


def require_keyword(array: Any, **keywords: Any) -> Capsule:
    """The capsule of an export that must succeed. Broken: the export raises an exception, for
    example because the producer lacks the keyword."""
    try:
        return export(array, **keywords)
    except Broken:
        raise
    except Exception as error:
        text = ", ".join(f"{name}={value}" for name, value in keywords.items())
        raise Broken(f"__dlpack__({text}) raises {described(error)}") from error
