# SPDX-License-Identifier: Apache-2.0
"""Device tensors in memory of the CUDA runtime, on a stream that is not the default stream."""

import ctypes
import functools
import hashlib

import ml_dtypes
import numpy as np
import tvm_ffi

CUDA = 2  # kDLCUDA
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind
OF_ML_DTYPES = {ml_dtypes.bfloat16: 4, ml_dtypes.float8_e4m3fn: 10, ml_dtypes.float8_e5m2: 12}
OF_KIND = {"i": 0, "u": 1, "f": 2, "b": 6}

results = hashlib.sha256()  # hash of all bytes that kernels wrote


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@functools.lru_cache(None)
def runtime():
    return ctypes.CDLL("libcudart.so.13")


def call(name, *arguments):
    """Calls a function of the runtime, which must succeed."""
    error = getattr(runtime(), name)(*arguments)
    assert error == 0, f"{name}() returned {error}"


class Exported:
    """A device array that exports itself by DLPack."""

    def __init__(self, address, array):
        code = OF_ML_DTYPES.get(array.dtype.type, OF_KIND.get(array.dtype.kind))
        self.shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        self.tensor = DLTensor(address, CUDA, 0, array.ndim, code, 8 * array.itemsize, 1, ctypes.addressof(self.shape))

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return CUDA, 0


class Stream:
    """Creates a stream, and keeps the arrays that the stream's work uses."""

    def __init__(self):
        self.handle, self.taken = ctypes.c_void_p(), []
        call("cudaStreamCreateWithFlags", ctypes.byref(self.handle), 1)  # cudaStreamNonBlocking

    def put(self, array):
        """Copies an array to the device; returns the tensor and its address."""
        array = np.ascontiguousarray(array)
        address = ctypes.c_void_p()
        call("cudaMalloc", ctypes.byref(address), ctypes.c_size_t(max(array.nbytes, 1)))
        if array.nbytes:
            self.copy(address, array.ctypes.data, array.nbytes, TO_DEVICE)
        exported = Exported(address, array)
        self.taken.append((address, array, exported))
        return tvm_ffi.from_dlpack(exported), address

    def copy(self, to, source, size, kind):
        call("cudaMemcpyAsync", ctypes.c_void_p(getattr(to, "value", to)),
             ctypes.c_void_p(getattr(source, "value", source)), ctypes.c_size_t(size), kind, self.handle)  # fmt: skip

    def get(self):
        """Returns the contents of all arrays after the work of the stream, in the order of the calls of put()."""
        arrays = [np.empty_like(array) for _, array, _ in self.taken]
        for array, (address, _, _) in zip(arrays, self.taken):
            if array.nbytes:
                self.copy(array.ctypes.data, address, array.nbytes, TO_HOST)
        call("cudaStreamSynchronize", self.handle)
        for array in arrays:
            results.update(array.tobytes())
        return arrays

    def close(self):
        for address, _, _ in self.taken:
            call("cudaFree", address)
        call("cudaStreamDestroy", self.handle)


def run_exported(function, *arguments):
    """Calls an exported function on a new stream, with a device tensor for each array; returns the arrays' contents
    after the call."""
    stream = Stream()
    passed = [stream.put(argument)[0] if isinstance(argument, np.ndarray) else argument for argument in arguments]
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.handle.value):
        function(*passed)
    arrays = stream.get()
    del passed
    stream.close()
    return arrays


def run_plain(function, *arguments):
    """Like run_exported(), but calls a C function whose parameters are pointers and int64, followed by a stream."""
    stream = Stream()
    passed = [stream.put(argument)[1] if isinstance(argument, np.ndarray) else ctypes.c_int64(argument) for argument in arguments]
    error = function(*passed, stream.handle)
    assert error == 0, f"the function returned {error}"
    arrays = stream.get()
    stream.close()
    return arrays
