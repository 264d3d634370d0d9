# SPDX-License-Identifier: Apache-2.0
"""The library under test: its file, its functions, and calls of them."""

import ctypes
import functools
import json
import os
import pathlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from ...binaries.library import Library, read_library
from ..rule import Broken, NotApplicable
from . import abi
from .guarded import GuardedPage
from .host import Host, Raised


class Outcome(NamedTuple):
    """The result of one call."""

    code: int
    raised: Optional[Raised]  # the error in the host's slot after the call
    result_type: int  # type_index of the result
    changed: bool  # whether the call changed the array of its arguments

    @property
    def failed(self) -> bool:
        return self.code != 0


class Subject:
    """One library. The file is read at once, and loaded at the first call."""

    def __init__(self, path: str, report: Callable[[str], None] = lambda text: None) -> None:
        """`report` is called with a description of each action that can crash, before the action.
        UserError: the file is not a shared library, or the host is missing."""
        self.path = pathlib.Path(path).absolute()
        self.report = report
        self.file: Library = read_library(self.path)
        self.host = Host()
        self._page = GuardedPage()

    @functools.cached_property
    def loaded(self) -> ctypes.CDLL:
        """The library, loaded into this process. Broken: the library cannot be loaded."""
        self.report("dlopen()")
        try:
            return ctypes.CDLL(str(self.path), mode=os.RTLD_NOW | ctypes.RTLD_LOCAL)
        except OSError as error:
            raise Broken(f"the library cannot be loaded: {error}") from error

    @property
    def functions(self) -> List[str]:
        """The names of the exported functions. NotApplicable: the library exports no function."""
        if not self.file.ops:
            raise NotApplicable("the library exports no function __tvm_ffi_*")
        return sorted(self.file.ops)

    def function(self, symbol: str) -> Callable[..., int]:
        """The function at an exported symbol."""
        return abi.Function(ctypes.cast(getattr(self.loaded, symbol), ctypes.c_void_p).value or 0)

    def call(self, name: str, arguments: Sequence[abi.Any], page: Optional[GuardedPage] = None) -> Outcome:
        """Calls __tvm_ffi_<name>. The arguments end at an inaccessible page, so that reading more of them crashes."""
        self.report(f"{name}() with {len(arguments)} arguments" + (f" of type index {arguments[0].type_index}" if arguments else ""))
        outcome, result = self.call_symbol(f"__tvm_ffi_{name}", arguments, page)
        if result.type_index >= abi.FIRST_OBJECT and result.pointer:
            self.host.release(result.pointer)
        return outcome

    def call_symbol(self, symbol: str, arguments: Sequence[abi.Any], page: Optional[GuardedPage] = None) -> "tuple[Outcome, abi.Any]":
        """Calls the function at a symbol. The caller releases the result."""
        size = ctypes.sizeof(abi.Any) * len(arguments)
        address = (page or self._page).address_of_end(size)
        for index, argument in enumerate(arguments):
            ctypes.memmove(address + index * ctypes.sizeof(abi.Any), ctypes.byref(argument), ctypes.sizeof(abi.Any))
        before = ctypes.string_at(address, size)
        result = abi.Any()
        code = self.function(symbol)(None, address, len(arguments), ctypes.byref(result))
        changed = ctypes.string_at(address, size) != before
        return Outcome(code, self.host.take_error(), result.type_index, changed), result

    def text(self, symbol: str) -> str:
        """The str that a function without parameters returns. Broken: the function fails, or
        returns another value."""
        self.report(f"{symbol}()")
        outcome, result = self.call_symbol(symbol, [])
        if outcome.failed:
            raise Broken(f"{symbol}() returns {outcome.code}: {outcome.raised.message if outcome.raised else 'no error is set'}")
        if result.type_index == abi.SMALL_STR:
            return bytes(ctypes.string_at(ctypes.addressof(result) + abi.Any.value.offset, result.small_size)).decode()
        if result.type_index != abi.STR:
            raise Broken(f"{symbol}() returns a value of type index {result.type_index}; a str is {abi.SMALL_STR} or {abi.STR}")
        content = abi.ByteArray.from_address(result.pointer + ctypes.sizeof(abi.Object)).content()
        self.host.release(result.pointer)
        return content.decode()

    def metadata(self, name: str) -> Optional[Dict[str, Any]]:
        """The JSON of __tvm_ffi__metadata_<name>; None if the function is not exported. Broken: the
        function does not return a JSON object."""
        symbol = f"__tvm_ffi__metadata_{name}"
        if symbol not in self.file.exported:
            return None
        text = self.text(symbol)
        try:
            metadata = json.loads(text)
        except ValueError as error:
            raise Broken(f"{symbol}() returns no JSON: {error}") from error
        if not isinstance(metadata, dict):
            raise Broken(f"{symbol}() returns {text[:60]}; the metadata is a JSON object")
        return metadata

    @functools.lru_cache(maxsize=None)
    def parameters(self, name: str) -> Optional[List[str]]:
        """The types of a function's parameters in its metadata, as in ["DLTensor*", "float"]; None if they are unknown."""
        try:
            schema = json.loads((self.metadata(name) or {}).get("type_schema", "null"))
            return [argument["type"] for argument in schema["args"][1:]]
        except (Broken, KeyError, TypeError, ValueError):
            return None


