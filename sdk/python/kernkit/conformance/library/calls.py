# SPDX-License-Identifier: Apache-2.0
"""Makes calls that must not crash a function, and reads the types of a function's parameters."""

from typing import Iterator, List, Tuple

from ..rule import NotApplicable
from . import abi
from .subject import Outcome, Subject
from .values import none

EXCESSIVE = 65  # number of arguments that exceeds the arity of any known function
_UNKNOWN_ARITY = 40  # largest number of arguments in calls of a function without metadata

# Kinds of values that a parameter of the type ffi.Tensor does not accept.
_NOT_A_TENSOR = {"float", "bool", "short str", "str", "dtype", "device", "none"}
# {type in the metadata: kinds of values that a parameter of the type does not accept}.
REJECTED = {
    "DLTensor*": _NOT_A_TENSOR - {"none"},
    "ffi.Tensor": _NOT_A_TENSOR,
    "int": {"float", "short str", "str", "dtype", "device", "none"},
    "float": {"short str", "str", "dtype", "device", "none"},
    "bool": {"float", "short str", "str", "dtype", "device", "none"},
    "ffi.String": {"float", "bool", "dtype", "device", "none"},
    "str": {"float", "bool", "dtype", "device", "none"},
}


def numbers_of_arguments(subject: Subject, name: str) -> List[int]:
    """Returns the numbers of arguments with which the function is called: the number in its metadata or, without
    metadata, 1 to _UNKNOWN_ARITY. The list is empty for a function without parameters."""
    parameters = subject.parameters(name)
    return list(range(1, _UNKNOWN_ARITY + 1)) if parameters is None else [len(parameters)] if parameters else []


def is_rejected(subject: Subject, name: str, kind: str) -> bool:
    """Returns whether the metadata of the function has a parameter that accepts no value of the kind."""
    return any(kind in REJECTED.get(type_, ()) for type_ in subject.parameters(name) or ())


def failing(subject: Subject) -> Iterator[Tuple[str, List[abi.Any], Outcome]]:
    """Yields (name, arguments, outcome) of the first failing call of each function. Each function is called with 0,
    EXCESSIVE and 1 arguments, in this order and all None, until a call fails. Functions without a failing call are left
    out. Raises NotApplicable if no call of any function fails."""
    has_error = False
    for name in subject.functions:
        for arguments in ([], [none()] * EXCESSIVE, [none()]):
            outcome = subject.call(name, arguments)
            if outcome.failed:
                has_error = True
                yield name, arguments, outcome
                break
    if not has_error:
        raise NotApplicable("no call of a function returns an error")
