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
    """The outcome of one call of a function."""

    code: int
    raised: Optional[Raised]  # error in the host's slot after the call, or None
    result_type: int  # type index of the result
    changed: bool  # whether the call changed its array of arguments

    @property
    def failed(self) -> bool:
        return self.code != 0


class Subject:
    """One library under test. The constructor reads the file; the first access to `loaded` loads the library."""

    def __init__(self, path: str, report: Callable[[str], None] = lambda text: None) -> None:
        """Reads the file of the library. `report` is called before each action that can crash, with a description of
        the action. Raises UserError if the file is not a shared library, or if the host is missing."""
        self.path = pathlib.Path(path).absolute()
        self.report = report
        self.file: Library = read_library(self.path)
        self.host = Host()
        self._page = GuardedPage()

    @functools.cached_property
    def loaded(self) -> ctypes.CDLL:
        """Returns the library, which the first access loads into this process. Raises Broken if the library cannot be
        loaded."""
        self.report("dlopen()")
        try:
            return ctypes.CDLL(str(self.path), mode=os.RTLD_NOW | ctypes.RTLD_LOCAL)
        except OSError as error:
            raise Broken(f"the library cannot be loaded: {error}") from error

    @property
    def functions(self) -> List[str]:
        """Returns the names of the exported functions, sorted. Raises NotApplicable if the library exports no
        function."""
        if not self.file.ops:
            raise NotApplicable("the library exports no function __tvm_ffi_*")
        return sorted(self.file.ops)

    def function(self, symbol: str) -> Callable[..., int]:
        """Returns the function of the exported symbol `symbol`."""
        return abi.Function(ctypes.cast(getattr(self.loaded, symbol), ctypes.c_void_p).value or 0)

    def call(self, name: str, arguments: Sequence[abi.Any], page: Optional[GuardedPage] = None) -> Outcome:
        """Calls __tvm_ffi_<name>, releases its result, and returns the outcome. The arguments end at an inaccessible
        page, so that a read past the last argument crashes."""
        self.report(f"{name}() with {len(arguments)} arguments" + (f" of type index {arguments[0].type_index}" if arguments else ""))
        outcome, result = self.call_symbol(f"__tvm_ffi_{name}", arguments, page)
        if result.type_index >= abi.FIRST_OBJECT and result.pointer:
            self.host.release(result.pointer)
        return outcome

    def call_symbol(self, symbol: str, arguments: Sequence[abi.Any], page: Optional[GuardedPage] = None) -> "tuple[Outcome, abi.Any]":
        """Calls the function of a symbol. Returns (outcome, result). The caller must release the result."""
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
        """Returns the str that the function of a symbol, which has no parameters, returns. Raises Broken if the
        function fails or returns a value that is not a str."""
        self.report(f"{symbol}()")
        outcome, result = self.call_symbol(symbol, [])
        if outcome.failed:
            raise Broken(f"{symbol}() returns {outcome.code}: {outcome.raised.message if outcome.raised else 'no error is set'}")
        if result.type_index == abi.SMALL_STR:
            return bytes(ctypes.string_at(ctypes.addressof(result) + abi.Any.value.offset, result.small_size)).decode()
        if result.type_index != abi.STR:
            raise Broken(f"{symbol}() returns a value of type index {result.type_index}; expected a str, type index {abi.SMALL_STR} or {abi.STR}")
        content = abi.ByteArray.from_address(result.pointer + ctypes.sizeof(abi.Object)).content()
        self.host.release(result.pointer)
        return content.decode()

    def metadata(self, name: str) -> Optional[Dict[str, Any]]:
        """Returns the JSON object that __tvm_ffi__metadata_<name> returns, or None if this function is not exported.
        Raises Broken if its result is not a JSON object."""
        symbol = f"__tvm_ffi__metadata_{name}"
        if symbol not in self.file.exported:
            return None
        text = self.text(symbol)
        try:
            metadata = json.loads(text)
        except ValueError as error:
            raise Broken(f"{symbol}() returns no JSON: {error}") from error
        if not isinstance(metadata, dict):
            raise Broken(f"{symbol}() returns {text[:60]}; expected a JSON object")
        return metadata

    @functools.lru_cache(maxsize=None)
    def parameters(self, name: str) -> Optional[List[str]]:
        """Returns the types of a function's parameters from its metadata, as in ["DLTensor*", "float"], or None if the
        types are unknown."""
        try:
            schema = json.loads((self.metadata(name) or {}).get("type_schema", "null"))
            return [argument["type"] for argument in schema["args"][1:]]
        except (Broken, KeyError, TypeError, ValueError):
            return None


