# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of logged, traced and recorded calls."""

import os
import subprocess
import sys

import called
import pytest

# Python code that calls ops through ctypes, as in tests/interop/test_numpy_alone.py.
WITHOUT_HOST = """
import ctypes, sys
import numpy as np
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]
class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small", ctypes.c_uint32), ("ptr", ctypes.c_void_p)]
library = ctypes.CDLL(sys.argv[1])
library.kernkit_last_error.restype = ctypes.c_char_p
def call(name, *arrays):
    args, result, keep = (Any * len(arrays))(), Any(), []
    for i, array in enumerate(arrays):
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        keep += [shape, Tensor(array.ctypes.data, (1, 0), array.ndim, 2, 32, 1, shape, None, 0)]
        args[i].type_index, args[i].ptr = 7, ctypes.addressof(keep[-1])
    code = getattr(library, "__tvm_ffi_" + name)(None, args, len(arrays), ctypes.byref(result))
    print(code, library.kernkit_last_error().decode())
x = np.arange(6, dtype="float32").reshape(2, 3)
"""


@pytest.fixture
def library_without_host():
    """Returns a function that runs code in a process without tvm_ffi."""

    def run(code, **settings):
        command = [sys.executable, "-c", WITHOUT_HOST + code, called.library()]
        return subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=True)

    return run
