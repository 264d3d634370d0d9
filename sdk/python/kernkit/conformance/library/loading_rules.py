# SPDX-License-Identifier: Apache-2.0
"""Rules about loading the library into a process that has loaded the host."""

import ctypes
import os
import pathlib
import shutil
import tempfile
from typing import Dict

from ..rule import MUST, SHOULD, Broken, NotApplicable, Rules
from . import sources
from .subject import Subject

RULES = Rules()
_CONTEXT = "__tvm_ffi__library_ctx"


def _signal_masks() -> Dict[str, str]:
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return {line[:6]: line[7:].strip() for line in lines if line.startswith(("SigCgt", "SigIgn"))}


@RULES.add(SHOULD, sources.OWN)
def process_state(subject: Subject) -> None:
    """Loading the library does not change a signal handler, an environment variable or the current folder of the
    process."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_char_p

    def state() -> Dict[str, object]:
        variables = pathlib.Path("/proc/self/environ").read_bytes().split(b"\0")
        names = {variable.partition(b"=")[0] for variable in variables if variable}
        return {"signal handlers": _signal_masks(), "environment variables": {name: libc.getenv(name) for name in names},
                "current folder": os.getcwd()}  # fmt: skip

    before = state()
    subject.loaded  # noqa: B018 the load is the action
    after = state()
    if changed := [name for name in before if before[name] != after[name]]:
        raise Broken(f"loading the library changes: {', '.join(changed)}")


@RULES.add(MUST, sources.DLOPEN)
def loads(subject: Subject) -> None:
    """The library can be loaded beside the host, and the loader finds every symbol that the library needs
    (RTLD_NOW)."""
    subject.loaded  # noqa: B018 the load is the check


@RULES.add(MUST, sources.SYMBOLS)
def library_context(subject: Subject) -> None:
    """The variable `__tvm_ffi__library_ctx`, if exported, is NULL when the library is loaded and is writable, because
    the loader stores the library's handle there."""
    if _CONTEXT not in subject.file.exported:
        raise NotApplicable(f"the library exports no {_CONTEXT}")
    context = ctypes.c_void_p.in_dll(subject.loaded, _CONTEXT)
    if context.value is not None:
        raise Broken(f"{_CONTEXT} is {context.value:#x}; expected NULL until the loader stores the handle of the library")
    subject.report(f"a store to {_CONTEXT}")
    context.value = ctypes.addressof(context)
    context.value = None


@RULES.add(SHOULD, sources.OWN)
def loads_twice(subject: Subject) -> None:
    """A copy of the library's file can be loaded beside the library, and its functions have other addresses."""
    first = subject.loaded
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(subject.path, pathlib.Path(folder, f"copy_of_{subject.path.name}"))
        subject.report("dlopen() of a copy")
        try:
            second = ctypes.CDLL(str(copy), mode=os.RTLD_NOW | ctypes.RTLD_LOCAL)
        except OSError as error:
            raise Broken(f"the copy cannot be loaded: {error}") from error
    for name in subject.functions:
        symbol = f"__tvm_ffi_{name}"
        addresses = [ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value for library in (first, second)]
        if addresses[0] == addresses[1]:
            raise Broken(f"{symbol} of the copy is the function of the first library")
