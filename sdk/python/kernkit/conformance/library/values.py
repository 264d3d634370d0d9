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
    """Returns an argument with a type index that no release of TVM-FFI defines."""
    return abi.Any(abi.UNKNOWN)


class Values:
    """An argument of each type that a kernel's parameter can have, except int and pointer: a function may interpret an
    int as a handle, so an arbitrary value could crash the process."""

    def __init__(self, host: Host) -> None:
        self._page = GuardedPage()
        self._shape, self._strides = (ctypes.c_int64 * 1)(1), (ctypes.c_int64 * 1)(1)
        self.dltensor = DLTensor(self._page.address_of_end(4), DLDevice(CPU, 0), 1, DLDataType(2, 32, 1), self._shape, self._strides, 0)
        self.managed = DLManagedTensor(self.dltensor, None, None)
        self.tensor_object = host.tensor(ctypes.addressof(self.managed))
        self.str_object = host.text(TEXT)

    def by_type(self) -> Dict[str, abi.Any]:
        """Returns {type: an argument of the type} for all types except tensors."""
        float_ = abi.Any(abi.FLOAT)
        float_.f64 = 0.5
        bool_ = abi.Any(abi.BOOL)
        small = abi.Any(abi.SMALL_STR, 2)
        small.small = b"ab"
        dtype, device = abi.Any(abi.DATA_TYPE), abi.Any(abi.DEVICE)
        dtype.dtype, device.device = DLDataType(2, 32, 1), DLDevice(CPU, 0)
        return {"float": float_, "bool": bool_, "short str": small, "str": self.str_object, "dtype": dtype, "device": device}

    def tensors(self) -> Dict[str, abi.Any]:
        """Returns a float32 tensor of one element in two forms: a borrowed DLTensor and a tensor object. The element
        ends at an inaccessible page."""
        borrowed = abi.Any(abi.DLTENSOR)
        borrowed.pointer = ctypes.addressof(self.dltensor)
        return {"DLTensor*": borrowed, "Tensor": self.tensor_object}
