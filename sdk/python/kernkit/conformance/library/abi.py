# SPDX-License-Identifier: Apache-2.0
"""The structures of the TVM-FFI ABI for ctypes. Layouts and numbers equal those in sdk/include/kernkit/abi/abi.h."""

import ctypes

from ..dlpack.structures import DLDataType, DLDevice

NONE, INT, BOOL, FLOAT, DATA_TYPE, DEVICE, DLTENSOR, SMALL_STR = 0, 1, 2, 3, 5, 6, 7, 11
FIRST_OBJECT, STR, ERROR, TENSOR = 64, 65, 67, 70
UNKNOWN = 63  # type index that no release defines: the largest index below the indices of objects


class Value(ctypes.Union):
    _fields_ = [("i64", ctypes.c_int64), ("f64", ctypes.c_double), ("pointer", ctypes.c_void_p), ("dtype", DLDataType),
                ("device", DLDevice), ("small", ctypes.c_char * 8)]  # fmt: skip


class Any(ctypes.Structure):
    """struct TVMFFIAny: an argument or a result."""

    _anonymous_ = ["value"]
    _fields_ = [("type_index", ctypes.c_int32), ("small_size", ctypes.c_uint32), ("value", Value)]


class Object(ctypes.Structure):
    """struct TVMFFIObject: the header of an object. The low 32 bits of `references` are the strong reference count."""

    _fields_ = [("references", ctypes.c_uint64), ("type_index", ctypes.c_int32), ("padding", ctypes.c_uint32), ("deleter", ctypes.c_void_p)]


class ByteArray(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    def content(self) -> bytes:
        return ctypes.string_at(self.data, self.size) if self.size else b""


class ErrorCell(ctypes.Structure):
    """The first members of an error object after the object's header."""

    _fields_ = [("kind", ByteArray), ("message", ByteArray)]


Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)


def strong_count(address: int) -> int:
    """Returns the strong reference count of the object at `address`."""
    return int(Object.from_address(address).references) & 0xFFFFFFFF
