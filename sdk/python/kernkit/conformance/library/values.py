# SPDX-License-Identifier: Apache-2.0
"""Arguments of each type, as a caller passes them."""

import ctypes
from typing import Dict

from ..dlpack.structures import CPU, DLDataType, DLDevice, DLManagedTensor, DLTensor
from . import abi
from .guarded import GuardedPage
from .host import Host

TEXT = b"a text of more than seven bytes"


def none() -> abi.Any:
    return abi.Any(abi.NONE)


def unknown() -> abi.Any:
    """A value of a type index that no release defines."""
    return abi.Any(abi.UNKNOWN)


class Values:
    """One value of each type that a kernel's parameter can have, except int and pointers: a function may take an int for a
    handle, which a caller must not invent."""

    def __init__(self, host: Host) -> None:
        self._page = GuardedPage()
        self._shape, self._strides = (ctypes.c_int64 * 1)(1), (ctypes.c_int64 * 1)(1)
        self.dltensor = DLTensor(self._page.address_of_end(4), DLDevice(CPU, 0), 1, DLDataType(2, 32, 1), self._shape, self._strides, 0)
        self.managed = DLManagedTensor(self.dltensor, None, None)
        self.tensor_object = host.tensor(ctypes.addressof(self.managed))
        self.str_object = host.text(TEXT)

    def by_type(self) -> Dict[str, abi.Any]:
        """{type: a value of the type} for all types except tensors."""
        float_ = abi.Any(abi.FLOAT)
        float_.f64 = 0.5
        bool_ = abi.Any(abi.BOOL)
        small = abi.Any(abi.SMALL_STR, 2)
        small.small = b"ab"
        dtype, device = abi.Any(abi.DATA_TYPE), abi.Any(abi.DEVICE)
        dtype.dtype, device.device = DLDataType(2, 32, 1), DLDevice(CPU, 0)
        return {"float": float_, "bool": bool_, "short str": small, "str": self.str_object, "dtype": dtype, "device": device}

    def tensors(self) -> Dict[str, abi.Any]:
        """A float32 tensor of one element as a borrowed DLTensor and as an object. The element ends
        at an inaccessible page."""
        borrowed = abi.Any(abi.DLTENSOR)
        borrowed.pointer = ctypes.addressof(self.dltensor)
        return {"DLTensor*": borrowed, "Tensor": self.tensor_object}
