# SPDX-License-Identifier: Apache-2.0
"""The host in which the rules call a library: libtvm_ffi.so, loaded by ctypes without importing the package tvm_ffi."""

import ctypes
import importlib.util
import pathlib
from typing import NamedTuple, Optional

from ...errors import UserError
from . import abi


def library_of_host() -> pathlib.Path:
    """Returns the path of libtvm_ffi.so in the installed package apache-tvm-ffi. Raises UserError if the package is not
    installed."""
    spec = importlib.util.find_spec("tvm_ffi")
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = pathlib.Path(folder, "lib", "libtvm_ffi.so")
        if path.is_file():
            return path
    raise UserError("the host of a library is not installed: libtvm_ffi.so of apache-tvm-ffi; run pip install apache-tvm-ffi")


class Raised(NamedTuple):
    """The content of an error that a function left in the host's error slot of this thread."""

    type_index: int
    kind: str
    message: str
    references: int  # strong count of the error after the host took it; 1 if no other reference exists


class Host:
    """The functions of libtvm_ffi.so that the rules use."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(library_of_host()), mode=ctypes.RTLD_GLOBAL)
        for name, *types in (("TVMFFIErrorMoveFromRaised", ctypes.c_void_p), ("TVMFFIObjectDecRef", ctypes.c_void_p),
                             ("TVMFFIStringFromByteArray", ctypes.c_void_p, ctypes.c_void_p),
                             ("TVMFFITensorFromDLPack", ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p),
                             ("TVMFFITypeKeyToIndex", ctypes.c_void_p, ctypes.c_void_p)):  # fmt: skip
            getattr(self._library, name).argtypes = types

    def take_error(self) -> Optional[Raised]:
        """Empties this thread's error slot, releases the error, and returns its content, or None if the slot was
        empty."""
        handle = ctypes.c_void_p()
        self._library.TVMFFIErrorMoveFromRaised(ctypes.byref(handle))
        if not handle.value:
            return None
        header = abi.Object.from_address(handle.value)
        cell = abi.ErrorCell.from_address(handle.value + ctypes.sizeof(abi.Object))
        raised = Raised(header.type_index, "", "", abi.strong_count(handle.value))
        if header.type_index == abi.ERROR:
            kind, message = (part.content().decode(errors="backslashreplace") for part in (cell.kind, cell.message))
            raised = raised._replace(kind=kind, message=message)
        self.release(handle.value)
        return raised

    def release(self, handle: int) -> None:
        """Releases one strong reference to an object."""
        self._library.TVMFFIObjectDecRef(handle)

    def text(self, content: bytes) -> abi.Any:
        """Returns a str as an argument of a call. A text of more than 7 bytes becomes an object with one reference."""
        value, buffer = abi.Any(), ctypes.create_string_buffer(content)
        self._library.TVMFFIStringFromByteArray(ctypes.byref(abi.ByteArray(ctypes.addressof(buffer), len(content))), ctypes.byref(value))
        return value

    def tensor(self, managed: int) -> abi.Any:
        """Returns an argument that is a tensor object with one reference, made from the DLManagedTensor at the address
        `managed`."""
        handle = ctypes.c_void_p()
        if self._library.TVMFFITensorFromDLPack(managed, 0, 0, ctypes.byref(handle)):
            raise RuntimeError("TVMFFITensorFromDLPack failed")
        value = abi.Any(abi.TENSOR)
        value.pointer = handle.value
        return value
