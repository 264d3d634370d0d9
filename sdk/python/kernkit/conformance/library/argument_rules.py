# SPDX-License-Identifier: Apache-2.0
"""Rules about a function's arguments. A call whose arguments the function rejects returns an error,
and no call crashes."""

import ctypes
from typing import Sequence, Tuple

from ..rule import MUST, SHOULD, Broken, Rules
from . import abi, sources
from .calls import EXCESSIVE, is_rejected, numbers_of_arguments
from .subject import Outcome, Subject
from .values import Values, none, unknown

RULES = Rules()


def _require_error_object(name: str, outcome: Outcome) -> None:
    if outcome.failed and outcome.raised is None:
        raise Broken(f"{name}() returns {outcome.code} and sets no error")


def _require_rejection(subject: Subject, values: Sequence[Tuple[str, abi.Any, str]]) -> None:
    """Calls each function with every argument equal to the same value. Raises Broken if a call succeeds although, by
    the function's metadata, a parameter does not accept this kind of value.

    values: (kind of value for is_rejected(), value, end of the message "NAME() accepts ...", in which the types of the
    parameters replace {types}).
    """
    for name in subject.functions:
        for count in numbers_of_arguments(subject, name):
            for kind, value, what in values:
                outcome = subject.call(name, [value] * count)
                _require_error_object(name, outcome)
                if not outcome.failed and is_rejected(subject, name, kind):
                    raise Broken(f"{name}() accepts {what.format(types=', '.join(subject.parameters(name) or []))}")


@RULES.add(MUST, sources.SAFE_CALL)
def argument_count(subject: Subject) -> None:
    """A call with fewer or more arguments than the function has parameters returns an error and reads no memory past the
    arguments."""
    for name in subject.functions:
        parameters = subject.parameters(name)
        outcomes = {count: subject.call(name, [none()] * count) for count in (0, EXCESSIVE)}
        for outcome in outcomes.values():
            _require_error_object(name, outcome)
        accepted = [count for count, outcome in outcomes.items() if not outcome.failed]
        if parameters is not None and any(count != len(parameters) for count in accepted):
            raise Broken(f"{name}() accepts {accepted[-1]} arguments; its metadata has {len(parameters)} parameters")
        # A function without metadata may accept any number of arguments.


@RULES.add(MUST, sources.TYPES)
def none_arguments(subject: Subject) -> None:
    """A call whose arguments are all None does not crash, and returns an error unless every parameter is optional."""
    _require_rejection(subject, [("none", none(), "None for {types}")])


@RULES.add(MUST, sources.TYPES)
def wrong_types(subject: Subject) -> None:
    """A call whose arguments are all floats, bools, texts, dtypes or devices does not crash, and returns an error if a
    parameter has another type."""
    by_type = Values(subject.host).by_type()
    _require_rejection(subject, [(kind, value, f"a {kind} for {{types}}") for kind, value in by_type.items()])


@RULES.add(SHOULD, sources.CONVENTION)
def unknown_type(subject: Subject) -> None:
    """A call with arguments of a type index that no release defines does not crash. The call returns an error if the
    metadata declares the type of a parameter."""
    _require_rejection(subject, [("dtype", unknown(), f"arguments of the undefined type index {abi.UNKNOWN}")])


@RULES.add(SHOULD, sources.SAFE_CALL)
def small_tensors(subject: Subject) -> None:
    """A call whose arguments are float32 tensors of one element on the CPU returns, and accesses no memory past the
    element."""
    values = Values(subject.host)
    for name in subject.functions:
        for count in numbers_of_arguments(subject, name):
            for value in values.tensors().values():
                _require_error_object(name, subject.call(name, [value] * count))


@RULES.add(MUST, sources.OBJECTS)
def borrowed_arguments(subject: Subject) -> None:
    """A call does not change its array of arguments. A failed call changes neither the reference counts of its
    arguments nor the fields of its tensors."""
    values = Values(subject.host)
    tensor = bytes(values.dltensor)
    for name in subject.functions:
        for count in numbers_of_arguments(subject, name):
            for value in (values.str_object, values.tensor_object, values.tensors()["DLTensor*"]):
                is_object = value.type_index >= abi.FIRST_OBJECT
                before = abi.strong_count(value.pointer) if is_object else 0
                outcome = subject.call(name, [value] * count)
                after = abi.strong_count(value.pointer) if is_object else 0
                if outcome.changed:
                    raise Broken(f"{name}() changes the array of its arguments, which is const")
                if outcome.failed and after != before:
                    raise Broken(f"{name}() fails and leaves an argument with {after} references instead of {before}")
                if outcome.failed and bytes(values.dltensor) != tensor:
                    ctypes.memmove(ctypes.addressof(values.dltensor), tensor, len(tensor))
                    raise Broken(f"{name}() fails and changes the DLTensor of an argument")
