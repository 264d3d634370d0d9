# SPDX-License-Identifier: Apache-2.0
"""A producer of DLPack in Python, based on NumPy arrays. planted_producer:good keeps every rule of `kernkit conformance
--dlpack`; planted_producer:NAME has the fault of this name."""

import ctypes
import functools
import math

import ml_dtypes
import numpy as np
from kernkit.conformance.dlpack import structures as dl
from kernkit.conformance.dlpack.exchange_rules import _ALLOCATOR, _BORROW, _FROM_OBJECT, _STREAM, _TO_OBJECT, Table

api = ctypes.PyDLL(None)
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# The destructor of a capsule calls the following functions.
api.PyCapsule_IsValid.argtypes = api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
NAMES = {is_versioned: ctypes.c_char_p(b"dltensor_versioned" if is_versioned else b"dltensor") for is_versioned in (False, True)}
OTHER_NAME, USED = ctypes.c_char_p(b"tensor"), {key: ctypes.c_char_p(b"used_" + name.value) for key, name in NAMES.items()}
STRUCTURES = {False: dl.DLManagedTensor, True: dl.DLManagedTensorVersioned}
DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
owners, shared, references = {}, {}, []  # owners: {address of a structure: its array}
TABLE_NAME = ctypes.c_char_p(b"dlpack_exchange_api")
MISSING = object()
BITS = {"int4": [0, 1, 2, 3], "float4_e2m1fn": [0, 2, 4, 5]}


@DELETER
def delete(address):
    if owners.pop(address, MISSING) is not MISSING:
        libc.free(address)


@DELETER
def delete_structure_only(address):
    references.append(owners.pop(address, None))
    libc.free(address)


@DELETER
def delete_array_only(address):
    owners.pop(address, None)


@DELETER
def delete_nothing(address):
    pass


def destructor_of(faults):
    def destroy(capsule):
        for is_versioned, name in NAMES.items():
            is_used = api.PyCapsule_IsValid(capsule, USED[is_versioned])
            if api.PyCapsule_IsValid(capsule, name) or (is_used and "destructor_ignores_name" in faults):
                address = api.PyCapsule_GetPointer(capsule, USED[is_versioned] if is_used else name)
                deleter = DESTRUCTOR(STRUCTURES[is_versioned].from_address(address).deleter)  # a call by PYFUNCTYPE keeps the GIL
                for _ in range(0 if "capsule_leaks" in faults else 2 if "capsule_deletes_twice" in faults else 1):
                    deleter(address)

    return DESTRUCTOR(destroy)


class Array:
    """An array that exports itself by DLPack with a planted fault. Its dtype may be one that NumPy lacks."""

    def __init__(self, array, dtype, shape, faults, is_read_only=False):
        self.array, self.dtype, self.shape, self.faults, self.is_read_only = array, dtype, tuple(shape), faults, is_read_only

    def view(self, array):
        return type(self)(array, self.dtype, array.shape, self.faults)

    def __getitem__(self, index):
        return self.array[index] if isinstance(index, int) else self.view(self.array[index])

    def __setitem__(self, index, value):
        self.array[index] = value

    @property
    def T(self):  # noqa: N802 NumPy's name
        return self.view(self.array.T)

    def __del__(self):
        if "memory_of_the_array_alone" in self.faults:
            self.array.fill(-1)

    def __dlpack_device__(self):
        return {"device_is_a_list": [1, 0], "device_is_another": (1, 1)}.get(self.fault("device_is_"), (1, 0))

    def fault(self, prefix):
        return next((fault for fault in self.faults if fault.startswith(prefix)), None)

    def check(self, stream, max_version, dl_device):
        faults = self.faults
        if (stream is None and "rejects_stream_none" in faults) or (dl_device == (1, 0) and "rejects_cpu" in faults):
            raise ValueError("planted")
        if stream not in (None, MISSING) and not (faults & {"accepts_stream"} or (stream == -1 and "accepts_minus_one" in faults)):
            raise BufferError("stream must be None")
        if dl_device not in (None, (1, 0)):
            if "wrong_error_of_device" in faults:
                raise ValueError("planted")
            if "ignores_device" not in faults:
                raise BufferError("unsupported device")
        if max_version is None and self.is_read_only and "exports_read_only" not in faults:
            raise BufferError("read-only")
        if self.dtype not in dl.DTYPES and "exports_everything" not in faults:
            raise (ValueError if "wrong_error_of_dtype" in faults else BufferError)(f"no code for {self.dtype}")

    def __dlpack__(self, *, stream=MISSING, max_version=None, dl_device=None, copy=None):
        faults = self.faults
        self.check(stream, max_version, dl_device)
        is_versioned = max_version is not None and max_version[0] >= 1
        if "always_versioned" in faults:
            is_versioned = True
        if "never_versioned" in faults:
            is_versioned = False
        if "wrong_for_old" in faults and max_version == (0, 8):
            is_versioned = True
        if "raises_for_old" in faults and max_version == (0, 8):
            raise ValueError("planted")
        is_copy = (copy is True and "no_copy" not in faults) or "always_copies" in faults
        array = self.array.copy() if is_copy else self.array
        flags = dl.READ_ONLY if (self.is_read_only and not is_copy and "no_read_only_flag" not in faults) or "always_read_only" in faults else 0
        if is_copy and not faults & {"no_copied_flag", "always_copies"}:
            flags |= dl.IS_COPIED
        flags |= 0x100 if "undefined_flag" in faults else 0
        address = self.structure(array, is_versioned, flags, max_version)
        if "not_a_capsule" in faults:
            return address
        name = OTHER_NAME if "other_name" in faults else NAMES[is_versioned]
        return api.PyCapsule_New(address, name, ctypes.cast(DESTRUCTORS.setdefault(faults, destructor_of(faults)), ctypes.c_void_p))

    def structure(self, array, is_versioned, flags, max_version):
        faults, kind = self.faults, STRUCTURES[is_versioned]
        if "shared_structure" in faults and is_versioned in shared:
            return shared[is_versioned]
        address = libc.malloc(ctypes.sizeof(kind) + 32 * 16)
        ctypes.memset(address, 0, ctypes.sizeof(kind))
        managed = kind.from_address(address)
        self.fill(managed.dl_tensor, array, address + ctypes.sizeof(kind))
        if is_versioned:
            version = (7, 0) if "major_7" in faults else (1, 99) if "minor_99" in faults else (1, 3)
            managed.version, managed.flags = dl.DLPackVersion(*version), flags
        deleter = {"deleter_keeps_array": delete_structure_only, "deleter_keeps_structure": delete_array_only,
                   "deleter_needs_gil": api.PyErr_Clear}  # fmt: skip
        chosen = delete_nothing if "shared_structure" in faults else deleter.get(self.fault("deleter_"), delete)
        managed.deleter = ctypes.cast(chosen, ctypes.c_void_p).value
        owners[address] = None if "memory_of_the_array_alone" in faults else array
        shared[is_versioned] = address
        return address

    def fill(self, tensor, array, numbers):
        faults = self.faults
        shape, start, item = self.shape, array.ctypes.data, array.itemsize
        is_native = array.shape == shape
        strides = [stride // item for stride in array.strides] if is_native else [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        is_view = array.base is not None and array.base.size > array.size
        if (is_view and "views_look_compact" in faults) or ("transpose_looks_compact" in faults and array.flags.f_contiguous):
            strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
        if "strides_are_positive" in faults:
            strides = list(map(abs, strides))
        if "strides_in_bytes" in faults:
            strides = [stride * item for stride in strides]
        if "size_one_is_dropped" in faults:
            strides = [stride for stride, size in zip(strides, shape) if size != 1]
            shape = tuple(size for size in shape if size != 1)
        if "rank_zero_is_one" in faults and not shape:
            shape, strides = (1,), [1]
        if "empty_is_one" in faults and 0 in shape:
            shape = tuple(size or 1 for size in shape)
        if "views_begin_at_base" in faults and is_view:
            start = array.base.ctypes.data
        start = 0 if 0 in shape and "empty_has_data" not in faults else start
        offset = start % 256 if "unaligned" not in faults else 0
        code, bits = dl.DTYPES.get(self.dtype, (3, 64))
        lanes = 1
        wrong = self.fault("wrong_")
        if wrong == f"wrong_{self.dtype}":
            code = 3
        if wrong == "wrong_lanes":
            lanes = 2
        tensor.data, tensor.byte_offset = start - offset or None, offset
        tensor.device = dl.DLDevice(3 if "tensor_on_another_device" in faults else 1, 0)
        tensor.ndim, tensor.dtype = len(shape), dl.DLDataType(code, bits, lanes)
        values = (ctypes.c_int64 * 32).from_address(numbers)
        values[: len(shape)], values[16 : 16 + len(shape)] = shape, strides
        tensor.shape = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int64))
        if "null_strides" not in faults:
            tensor.strides = ctypes.cast(numbers + 16 * 8, ctypes.POINTER(ctypes.c_int64))


DESTRUCTORS = {}


class LacksKeyword(Array):
    def __dlpack__(self, *, stream=MISSING, max_version=None):
        return super().__dlpack__(stream=stream, max_version=max_version)


class AnyKeyword(Array):
    def __dlpack__(self, **keywords):
        keywords.pop("no_such_keyword", None)
        return super().__dlpack__(**keywords)


class WithoutDevice:
    def __init__(self, *arguments):
        self.__dlpack__ = Array(*arguments).__dlpack__


KINDS = {"lacks_keyword": LacksKeyword, "any_keyword": AnyKeyword, "without_device": WithoutDevice}


@functools.cache
def exchange_type(faults):
    """Returns a subclass of Array whose attribute __dlpack_c_exchange_api__ is a capsule with DLPack's table of C
    functions."""
    def address_of(function):
        references.append(function)
        return ctypes.cast(function, ctypes.c_void_p).value

    def structure(array):
        source = array.view(array.array[::2]) if "exchange_exports_another" in faults else array
        return source.structure(source.array, True, 0, (1, 3))

    def from_object(array, out):
        out[0] = structure(array)
        return 0

    def to_object(address, out):
        imported = owners[address] if "exchange_imports_another" in faults else exporter_of(owners[address], "float32", owners[address].shape, faults)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(imported))
        out[0] = id(imported)
        return 0

    def borrow(array, out):
        numbers = (ctypes.c_int64 * 32)()
        references.append(numbers)
        array.fill(out[0], array.array, ctypes.addressof(numbers))
        out[0].byte_offset += 4 if "exchange_borrows_another" in faults else 0
        return 0

    def allocate(prototype, out, context, set_error):
        if "exchange_allocator_fails" in faults:
            set_error(context, b"MemoryError", b"planted")
            return -1
        shape = tuple(prototype[0].shape[i] for i in range(prototype[0].ndim))
        shape = shape[::-1] if "exchange_allocates_another" in faults else shape
        out[0] = structure(exporter_of(np.zeros(shape, "float32"), "float32", shape, faults))
        return 0

    def stream(device_type, device, out):
        out[0] = 8 if "exchange_stream_of_cpu" in faults else None
        return 0

    functions = [address_of(kind(function)) for kind, function in ((_ALLOCATOR, allocate), (_FROM_OBJECT, from_object),
                                                                  (_TO_OBJECT, to_object), (_BORROW, borrow), (_STREAM, stream))]  # fmt: skip
    if "exchange_without_export" in faults:
        functions[1] = None
    table = Table(dl.DLPackVersion(2 if "exchange_major_2" in faults else 1, 3), None, *functions)
    references.append(table)
    capsule = api.PyCapsule_New(ctypes.addressof(table), TABLE_NAME, None)
    return type("Exchanged", (KINDS.get(next(iter(faults), ""), Array),), {"__dlpack_c_exchange_api__": capsule})


def exporter_of(array, dtype, shape, faults, is_read_only=False):
    if "without_device" in faults:
        return WithoutDevice(array, dtype, shape, faults, is_read_only)
    return exchange_type(faults)(array, dtype, shape, faults, is_read_only)


def __getattr__(fault):
    if fault.startswith("__"):
        raise AttributeError(fault)
    faults = frozenset({fault} - {"good"})

    def make(shape, dtype):
        count = math.prod(shape)
        if dtype in BITS:
            bits = BITS[dtype] if "padded_without_flag" in faults else [BITS[dtype][0] | BITS[dtype][1] << 4, BITS[dtype][2] | BITS[dtype][3] << 4]
            return exporter_of(np.array(bits, "uint8"), dtype, shape, faults)
        if dl.DTYPES[dtype][1] < 8:
            raise ValueError(dtype)
        numpy_type = getattr(ml_dtypes, dtype) if dtype == "bfloat16" or dtype.startswith("float8") else np.dtype(dtype)
        values = np.arange(count) % 2 if dtype == "bool" else np.arange(count)
        size = np.dtype(numpy_type).itemsize
        memory = np.zeros(count * size + 512, "uint8")  # the elements begin 16 bytes after a multiple of 256
        first = (16 - memory.ctypes.data) % 256
        array = memory[first : first + count * size].view(numpy_type)
        array[:] = values.astype(numpy_type)
        return exporter_of(array.reshape(shape), dtype, shape, faults)

    make.read_only = lambda shape: exporter_of(make(shape, "float32").array, "float32", shape, faults, True)
    make.without_dlpack = lambda: {"datetime64": exporter_of(np.zeros(2, "datetime64[s]"), "datetime64", (2,), faults)}
    return make
