# SPDX-License-Identifier: Apache-2.0
"""The capsule that __dlpack__() returns, as a consumer in C reads it."""

import ctypes
import itertools
import math
import struct
from typing import Any, List, Optional, Tuple, Union

from ..rule import Broken
from .structures import DLManagedTensor, DLManagedTensorVersioned, DLTensor

_api = ctypes.PyDLL(None)
for _name, _result, *_types in (("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object),
                                ("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p),
                                ("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)):  # fmt: skip
    getattr(_api, _name).restype, getattr(_api, _name).argtypes = _result, _types

LEGACY, VERSIONED = b"dltensor", b"dltensor_versioned"
# {name of a capsule: name after consumption}. A capsule stores the address of its name, so the buffers must outlive
# all capsules.
_USED = {name: ctypes.create_string_buffer(b"used_" + name) for name in (LEGACY, VERSIONED)}
_callbacks: List[Any] = []  # callbacks that stay alive, because a deleter can be called at any later time
DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # type of a deleter that is called while the thread holds the GIL
_FORMATS = {(0, 8): "b", (0, 16): "h", (0, 32): "i", (0, 64): "q", (1, 8): "B", (1, 16): "H", (1, 32): "I", (1, 64): "Q",
            (2, 16): "e", (2, 32): "f", (2, 64): "d", (6, 8): "?"}  # fmt: skip


class Capsule:
    """A DLPack capsule that no consumer has taken."""

    def __init__(self, capsule: Any) -> None:
        """`capsule`: the object that __dlpack__() returned. Raises Broken if the object is not a DLPack capsule."""
        if type(capsule).__name__ != "PyCapsule":
            raise Broken(f"__dlpack__() returns an object of type {type(capsule).__name__}; DLPack requires a PyCapsule")
        self.capsule: Optional[Any] = capsule
        self.name: bytes = _api.PyCapsule_GetName(capsule) or b""
        if self.name not in _USED:
            raise Broken(f'the capsule has the name "{self.name.decode(errors="replace")}"; the names of DLPack are dltensor and dltensor_versioned')
        self.address: int = _api.PyCapsule_GetPointer(capsule, self.name)
        self.managed: Union[DLManagedTensor, DLManagedTensorVersioned] = (
            DLManagedTensorVersioned if self.is_versioned else DLManagedTensor).from_address(self.address)  # fmt: skip

    @property
    def is_versioned(self) -> bool:
        return self.name == VERSIONED

    @property
    def version(self) -> Tuple[int, int]:
        """Returns the DLPack version (major, minor) in the capsule, or (0, 8) for a capsule without a version."""
        return (self.managed.version.major, self.managed.version.minor) if isinstance(self.managed, DLManagedTensorVersioned) else (0, 8)

    @property
    def flags(self) -> int:
        return int(self.managed.flags) if isinstance(self.managed, DLManagedTensorVersioned) else 0

    @property
    def tensor(self) -> DLTensor:
        tensor: DLTensor = self.managed.dl_tensor
        return tensor

    @property
    def data(self) -> int:
        """Returns the address of the first element, or 0 if the data pointer is NULL and the byte offset is 0."""
        return int((self.tensor.data or 0) + self.tensor.byte_offset)

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(self.tensor.shape[i] for i in range(self.tensor.ndim))

    @property
    def strides(self) -> Tuple[int, ...]:
        """Returns the strides [elements]; if the pointer to the strides is NULL, the strides of a compact row-major
        tensor."""
        if self.tensor.strides:
            return tuple(self.tensor.strides[i] for i in range(self.tensor.ndim))
        return tuple(math.prod(self.shape[i + 1 :]) for i in range(self.tensor.ndim))

    @property
    def dtype(self) -> Tuple[int, int, int]:
        """Returns (code, bits, lanes) of the dtype, as in dlpack.h."""
        return self.tensor.dtype.code, self.tensor.dtype.bits, self.tensor.dtype.lanes

    def elements(self) -> List[Any]:
        """Returns all elements in row-major order, read by means of the data pointer, byte_offset and the strides.
        Raises Broken if the dtype is not in _FORMATS."""
        code, bits, lanes = self.dtype
        if lanes != 1 or (code, bits) not in _FORMATS:
            raise Broken(f"the dtype has code {code}, {bits} bits and {lanes} lanes; the array has a dtype such as int32 or float32")
        form = "=" + _FORMATS[code, bits]
        size, strides = bits // 8, self.strides
        return [struct.unpack(form, ctypes.string_at(self.data + size * sum(map(int.__mul__, index, strides)), size))[0]
                for index in itertools.product(*map(range, self.shape))]  # fmt: skip

    def count_deletions(self) -> List[int]:
        """Replaces the capsule's deleter by a function that records each call and calls the producer's deleter at the
        first call. Returns the list of recorded calls, to which later calls are appended."""
        calls: List[int] = []
        original = self.managed.deleter

        def counted(address: int) -> None:
            calls.append(address)
            if original and len(calls) == 1:  # at the first call only: a second call would free the memory twice
                DELETER(original)(address)

        _callbacks.append(DELETER(counted))
        self.managed.deleter = ctypes.cast(_callbacks[-1], ctypes.c_void_p).value
        return calls

    def consume(self) -> None:
        """Renames the capsule and releases it, as a consumer does. The caller must then call the deleter, see
        delete()."""
        if _api.PyCapsule_SetName(self.capsule, ctypes.cast(_USED[self.name], ctypes.c_char_p)):
            raise RuntimeError("PyCapsule_SetName failed")
        self.capsule = None

    def delete(self) -> None:
        """Calls the deleter of a consumed tensor while this thread holds the GIL."""
        if self.managed.deleter:
            DELETER(self.managed.deleter)(self.address)

    def drop(self) -> None:
        """Releases the capsule without consuming it."""
        self.capsule = None
