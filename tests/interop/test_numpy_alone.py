# SPDX-License-Identifier: Apache-2.0
"""Calls ops with NumPy arrays through ctypes, in a process without tvm_ffi. The library must not install a signal
handler."""

import subprocess
import sys

SCRIPT = """
import ctypes, signal, sys
import numpy as np

# [ctypes]
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]

class Value(ctypes.Union):
    _fields_ = [("i64", ctypes.c_int64), ("f64", ctypes.c_double), ("ptr", ctypes.c_void_p)]

class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small", ctypes.c_uint32), ("v", Value)]

def tensor(array):
    sizes = ctypes.c_int64 * array.ndim
    strides = sizes(*(s // array.itemsize for s in array.strides))
    return Tensor(array.ctypes.data, (1, 0), array.ndim, 2, 8 * array.itemsize, 1,
                  sizes(*array.shape), strides, 0)

# [/ctypes]
def masks():
    return [line for line in open("/proc/self/status") if line.startswith(("SigCgt", "SigIgn"))]
before = masks()
library = ctypes.CDLL(sys.argv[1])
library.kernkit_last_error.restype = ctypes.c_char_p

# [call]
def call(name, *args):
    any_args = (Any * len(args))()
    keep = []
    for any_arg, arg in zip(any_args, args):
        if isinstance(arg, np.ndarray):
            keep.append(tensor(arg))
            any_arg.type_index, any_arg.v.ptr = 7, ctypes.addressof(keep[-1])
        else:
            any_arg.type_index, any_arg.v.f64 = 3, arg
    result = Any()
    function = getattr(library, "__tvm_ffi_" + name)
    return function(None, any_args, len(args), ctypes.byref(result))
# [/call]

x = np.arange(6, dtype="float32").reshape(2, 3)
y = np.zeros_like(x)
assert library.kernkit_last_error() == b""
assert call("scale", y, x, 2.0) == 0
np.testing.assert_array_equal(y, 2 * x)
assert call("scale", np.zeros((2, 3)), x, 2.0) == -1
assert library.kernkit_last_error() == (
    b"TypeError: scale(): y: dtype float64 does not match x (float32)")
assert call("scale", np.zeros(3, "float32"), x, 2.0) == -1
assert library.kernkit_last_error().startswith(b"ValueError: scale(): y: shape [3]")
assert masks() == before
assert not [line for line in open("/proc/self/maps") if "tvm_ffi" in line]
"""


def test_ctypes_with_numpy(library):
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, library], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
