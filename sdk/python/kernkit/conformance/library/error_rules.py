# SPDX-License-Identifier: Apache-2.0
"""Rules about the errors of failed calls."""

import gc
import re
import threading
from typing import Dict, List

from ..heap import bytes_in_use
from ..rule import MUST, Broken, NotApplicable, Rules
from . import abi, sources
from .calls import failing
from .guarded import GuardedPage
from .subject import Subject

RULES = Rules()
_KIND = re.compile(r"[A-Za-z_][\w.]*")
_CALLS = 1000
_THREADS = 4


def _require_some(num_checked: int) -> None:
    if not num_checked:
        raise NotApplicable("no call of a function returns an error")


@RULES.add(MUST, sources.SAFE_CALL)
def error_code(subject: Subject) -> None:
    """A call returns 0, or -1 with an error of type ffi.Error in the host's slot of the thread."""
    for name, _, outcome in failing(subject):
        if outcome.code != -1:
            raise Broken(f"{name}() returns {outcome.code}; expected -1 for an error")
        if outcome.raised is None:
            raise Broken(f"{name}() returns -1 and sets no error")
        if outcome.raised.type_index != abi.ERROR:
            raise Broken(f"{name}() sets an object of type index {outcome.raised.type_index}; expected {abi.ERROR}, the type index of ffi.Error")


@RULES.add(MUST, "tvm/ffi/c_api.h, TVMFFIErrorCell")
def error_kind(subject: Subject) -> None:
    """An error has a kind that is one identifier, such as TypeError, and a message that is not empty."""
    num_checked = 0
    for name, _, outcome in failing(subject):
        if outcome.raised is None:
            continue
        num_checked += 1
        if not _KIND.fullmatch(outcome.raised.kind):
            raise Broken(f'{name}() sets an error of kind "{outcome.raised.kind}"; expected one identifier, such as TypeError')
        if not outcome.raised.message:
            raise Broken(f"{name}() sets an error without a message")
    _require_some(num_checked)


@RULES.add(MUST, sources.SAFE_CALL)
def result_after_error(subject: Subject) -> None:
    """A failed call leaves no object in the result, because the caller does not release the result of a failed call."""
    for name, _, outcome in failing(subject):
        if outcome.result_type >= abi.FIRST_OBJECT:
            raise Broken(f"{name}() returns an error and an object of type index {outcome.result_type}")


@RULES.add(MUST, sources.ERRORS)
def error_is_released(subject: Subject) -> None:
    """After the host takes an error out of its slot, no other reference to the error exists, and 1000 failed calls
    leave no memory allocated."""
    for name, arguments, outcome in failing(subject):
        if outcome.raised is not None and outcome.raised.references != 1:
            raise Broken(f"the error that {name}() sets has {outcome.raised.references} references; expected 1, held by the error slot")

        def repeat(count: int, name: str = name, arguments: "List[abi.Any]" = arguments) -> None:
            for _ in range(count):
                subject.call(name, arguments)

        repeat(100)
        gc.collect()
        before = bytes_in_use()
        repeat(_CALLS)
        gc.collect()
        grown = bytes_in_use() - before
        if grown > 16 * _CALLS:
            raise Broken(f"{_CALLS} failed calls of {name}() leave {grown} bytes allocated")


@RULES.add(MUST, sources.ERRORS)
def error_of_thread(subject: Subject) -> None:
    """If four threads call functions at the same time, each failed call leaves its error in the slot of its own
    thread."""
    expected = {name: (arguments, outcome.raised.kind) for name, arguments, outcome in failing(subject) if outcome.raised}
    _require_some(len(expected))
    subject.report("calls in four threads")
    quiet = Subject(str(subject.path))  # makes no reports, which several threads would mix up
    problems: List[str] = []
    barrier = threading.Barrier(_THREADS)

    def work() -> None:
        page = GuardedPage()
        barrier.wait()
        for _ in range(50):
            for name, (arguments, kind) in expected.items():
                raised = quiet.call(name, arguments, page).raised
                if raised is None or raised.kind != kind:
                    found = raised.kind if raised else "no error"
                    problems.append(f"{name}(), called in several threads, leaves {found} in the slot of its thread; expected {kind}, as in one thread")
                    return

    quiet.loaded  # noqa: B018 the library is loaded before the threads start
    threads = [threading.Thread(target=work) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise Broken(problems[0])


@RULES.add(MUST, sources.ERRORS)
def error_after_success(subject: Subject) -> None:
    """A call that returns 0 leaves no error in the host's slot."""
    succeeded: Dict[str, bool] = {}
    for name in subject.functions:
        described = [symbol for symbol in (f"__tvm_ffi__metadata_{name}", f"__tvm_ffi__doc_{name}") if symbol in subject.file.exported]
        for symbol in [*described, *([f"__tvm_ffi_{name}"] if subject.parameters(name) == [] else [])]:
            subject.report(f"{symbol}()")
            outcome, result = subject.call_symbol(symbol, [])
            if result.type_index >= abi.FIRST_OBJECT:
                subject.host.release(result.pointer)
            if outcome.code == 0:
                succeeded[symbol] = True
                if outcome.raised is not None:
                    raise Broken(f"{symbol}() returns 0 and leaves {outcome.raised.kind}: {outcome.raised.message}")
    if not succeeded:
        raise NotApplicable("the library exports no description and no function without parameters")
