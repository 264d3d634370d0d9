# SPDX-License-Identifier: Apache-2.0
"""Device memory for repeated calls, allocated through the CUDA driver API of a GPU or of the simulator."""

import ctypes
from typing import Any, Dict, Optional

from ..errors import UserError


def is_installed() -> bool:
    """Returns whether the CUDA driver libcuda.so.1 can be loaded."""
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


class Driver:
    """The CUDA driver libcuda.so.1. The constructor raises UserError if the library is not found. Every method raises
    UserError if a function of the driver returns an error."""

    def __init__(self) -> None:
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise UserError("the recording has tensors on a CUDA device, and libcuda.so.1 is not found; "
                            "add --on-cpu to repeat the call without a GPU") from None  # fmt: skip
        self.contexts: Dict[int, ctypes.c_void_p] = {}
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(code, ctypes.byref(text))
            raise UserError(f"{name}() failed: {(text.value or b'unknown error').decode()}")

    def use(self, index: int) -> None:
        """Makes the primary context of device `index` the current context of this thread."""
        if index not in self.contexts:
            device, context = ctypes.c_int(), ctypes.c_void_p()
            self.call("cuDeviceGet", ctypes.byref(device), index)
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self.contexts[index] = context
        self.call("cuCtxSetCurrent", self.contexts[index])

    def name(self, index: int) -> str:
        """Returns the name of device `index`. The name of a simulated device contains "kernkit"."""
        device, text = ctypes.c_int(), ctypes.create_string_buffer(256)
        self.call("cuDeviceGet", ctypes.byref(device), index)
        self.call("cuDeviceGetName", text, len(text), device)
        return text.value.decode()

    def read(self, index: int, address: int, size: int) -> bytes:
        """Returns `size` bytes at `address` of device `index`, after all work on the device has finished. Raises
        UserError if a kernel failed."""
        self.use(index)
        self.call("cuCtxSynchronize")
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw


class DeviceMemory:
    """Newly allocated memory of a CUDA device, at an address that is equal to the recorded address modulo 256, the
    alignment of allocations."""

    _ALIGNMENT = 256

    def __init__(self, driver: Driver, index: int, address: int, size: int, content: Optional[bytes], is_new: bool = False) -> None:
        """Without `content` the memory is zero or, if `is_new` is true, uninitialised."""
        self.driver, self.index, self.size = driver, index, size
        shift = address % self._ALIGNMENT
        allocated = ctypes.c_uint64()
        driver.use(index)
        driver.call("cuMemAlloc_v2", ctypes.byref(allocated), ctypes.c_size_t(shift + size))
        self.base = allocated.value + shift
        self.write(content if content is not None or is_new else bytes(size))

    def write(self, content: Optional[bytes]) -> None:
        """Writes `content` into the memory. Does nothing if `content` is None, which means that the content was not
        recorded."""
        if content is not None:
            self.driver.use(self.index)
            self.driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.base), content, ctypes.c_size_t(self.size))

    def content(self) -> bytes:
        """Waits for the device and returns the content of the memory. Raises UserError if a kernel of the call
        failed."""
        return self.driver.read(self.index, self.base, self.size)
