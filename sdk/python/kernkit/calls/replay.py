# SPDX-License-Identifier: Apache-2.0
"""Repeats a recorded call in this process through ctypes, with the alignment, the strides and the aliasing of the
recorded tensors.

Lists, shapes and results that are objects require a host: the package apache-tvm-ffi.
"""

import ctypes
import importlib
import importlib.util
import mmap
import os
import pathlib
from typing import Any, Dict, List, NamedTuple, Optional

from ..errors import UserError
from .device import DeviceMemory, Driver
from .recording import Recording, Storage, Value

_PAGE = 4096
_CUDA = 2
_NONE, _INT, _BOOL, _FLOAT, _DTYPE, _DEVICE, _TENSOR, _RAW_STR, _BYTES = 0, 1, 2, 3, 5, 6, 7, 8, 9
_SMALL_STR, _STR, _TENSOR_OBJECT = 11, 65, 70
_HEADER = 24  # size of an object's header [bytes]; the content follows
_OF_HOST = (1, 3, 13)  # DLPack's device types whose memory the CPU can read: CPU, CUDA host, CUDA managed


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class _Union(ctypes.Union):
    _fields_ = [("i64", ctypes.c_int64), ("f64", ctypes.c_double), ("ptr", ctypes.c_void_p), ("small", ctypes.c_char * 8),
                ("dtype", ctypes.c_uint8 * 4), ("device", ctypes.c_int32 * 2)]  # fmt: skip


class _Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small_size", ctypes.c_uint32), ("v", _Union)]


class _ByteArray(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Managed(ctypes.Structure):
    """struct DLManagedTensorVersioned of dlpack.h."""

    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]  # fmt: skip


_Allocate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_DLTensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p)
_SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class Returned(NamedTuple):
    """A tensor that the repeated call returned, with its content."""

    value: Value
    begin: int  # address of the first byte of `content`
    content: bytes


class Outcome(NamedTuple):
    """The outcome of the repeated call: an error, or the values that the call returned and wrote."""

    error: Optional[str]  # "ValueError: op(): ..."
    value: Any  # a number, a str or None; meaningless unless has_value is true
    has_value: bool
    storages: Dict[int, bytes]  # {index of a storage with recorded content: its content after the call}
    returned: Optional[Returned] = None  # the tensor that the call returned; None for a result of another type


def _forbid(address: int, size: int) -> None:
    """Makes AddressSanitizer report accesses to the `size` bytes at `address`, if AddressSanitizer is loaded in this
    process."""
    poison = getattr(ctypes.CDLL(None), "__asan_poison_memory_region", None)
    if poison is not None:
        poison(ctypes.c_void_p(address), ctypes.c_size_t(size))


class Memory:
    """New memory of the CPU for a storage, at an address that is equal to the recorded address modulo the page size."""

    def __init__(self, storage: Storage) -> None:
        shift = storage.address % _PAGE
        self.mapped = mmap.mmap(-1, shift + storage.size + _PAGE)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.mapped)) + shift
        _forbid(self.base - shift, shift)
        _forbid(self.base + storage.size, _PAGE)
        self.shift, self.size = shift, storage.size
        self.write(storage.content)

    def write(self, content: Optional[bytes]) -> None:
        """Writes `content` into the memory. Does nothing if `content` is None, which means that the content was not
        recorded."""
        if content is not None:
            self.mapped[self.shift : self.shift + self.size] = content

    def content(self) -> bytes:
        return self.mapped[self.shift : self.shift + self.size]


class _Arguments:
    """The arguments of a call in the ABI's form, and the memory that they refer to."""

    def __init__(self, recording: Recording) -> None:
        self.keep: List[Any] = []
        size, memory = sum(storage.size for storage in recording.storages), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
        if size > memory:
            raise UserError(f"the tensors of the call have {size} bytes, and this machine has {memory} bytes of memory; use a machine with more memory")
        on_device = any(storage.device[0] == _CUDA for storage in recording.storages)
        self.driver = driver = Driver() if on_device else None
        self.host = load_host()
        if self.host is not None:
            self._allocate = _Allocate(self._new_tensor)
            self.host.TVMFFIEnvSetDLPackManagedTensorAllocator(self._allocate, 0, None)
        self.memory = [
            Memory(storage) if storage.device[0] != _CUDA or driver is None
            else DeviceMemory(driver, storage.device[1], storage.address, storage.size, storage.content, storage.is_new)
            for storage in recording.storages
        ]  # fmt: skip
        self.storages = recording.storages
        self.array = (_Any * max(len(recording.arguments), 1))()
        for any_value, value in zip(self.array, recording.arguments):
            self._set(any_value, value)

    def _kept(self, thing: Any) -> int:
        self.keep.append(thing)
        return ctypes.addressof(thing)

    def _set(self, out: _Any, value: Value) -> None:
        if value.type == "tensor":
            out.type_index, out.v.ptr = _TENSOR, self._kept(self._tensor(value))
            if value.is_object and self.host is not None:
                self._set_tensor_object(self.host, out)
        elif value.type in ("int", "bool"):
            out.type_index, out.v.i64 = (_INT if value.type == "int" else _BOOL), value.value
        elif value.type == "float":
            out.type_index, out.v.f64 = _FLOAT, value.value
        elif value.type == "none":
            out.type_index = _NONE
        elif value.type == "str":
            self._set_text(out, value)
        elif value.type == "bytes":
            data = ctypes.create_string_buffer(value.value, len(value.value) + 1)
            out.type_index, out.v.ptr = _BYTES, self._kept(_ByteArray(self._kept(data), len(value.value)))
        elif value.type == "dtype":
            code, bits, lanes = value.value
            out.type_index, out.v.dtype = _DTYPE, (ctypes.c_uint8 * 4)(code, bits, lanes & 255, lanes >> 8)
        elif value.type == "device":
            out.type_index, out.v.device = _DEVICE, (ctypes.c_int32 * 2)(*value.value)
        elif value.type in ("list", "shape"):
            self._set_object(out, value)
        else:
            raise UserError(f"the argument {value.name} is {value.value}, which a recording cannot contain; the call cannot be repeated")

    def _set_text(self, out: _Any, value: Value) -> None:
        """Sets *out to the text. A text with a NUL byte is passed as an object of the host, because a raw str ends at
        the NUL byte."""
        text = value.value.encode("utf-8", "surrogateescape")
        if b"\0" not in text:
            out.type_index, out.v.ptr = _RAW_STR, self._kept(ctypes.create_string_buffer(text))
        elif self.host is None:
            raise UserError(f"the argument {value.name} is a str with a NUL byte, which only tvm_ffi can make; run pip install apache-tvm-ffi")
        else:
            content = _ByteArray(self._kept(ctypes.create_string_buffer(text)), len(text))
            if self.host.TVMFFIStringFromByteArray(ctypes.byref(content), ctypes.byref(out)) != 0:
                raise UserError(f"the argument {value.name}: tvm_ffi failed to make a str")

    def _tensor(self, value: Value) -> _DLTensor:
        sizes = ctypes.c_int64 * max(len(value.shape), 1)
        address = value.address
        if value.storage is not None:
            address += self.memory[value.storage].base - self.storages[value.storage].address
        result = _DLTensor((address - value.byte_offset) % 2**64, value.device, len(value.shape), *value.dtype,
                           self._kept(sizes(*value.shape)), None, value.byte_offset)  # fmt: skip
        if value.strides is not None:
            result.strides = self._kept(sizes(*value.strides))
        return result

    def _set_object(self, out: _Any, value: Value) -> None:
        library = self.host
        if library is None:
            raise UserError(f"the argument {value.name} is a list, which only tvm_ffi can make; run pip install apache-tvm-ffi")
        make = "ffi.Shape" if value.type == "shape" else "ffi.Array"
        items = [Value("", "int", number) for number in value.value] if value.type == "shape" else value.value
        arguments = (_Any * max(len(items), 1))()
        for item, any_value in zip(items, arguments):
            self._set(any_value, item)
            if any_value.type_index == _TENSOR:
                self._set_tensor_object(library, any_value)
        name = make.encode()
        text = _ByteArray(self._kept(ctypes.create_string_buffer(name)), len(name))
        function, result = ctypes.c_void_p(), _Any()
        if library.TVMFFIFunctionGetGlobal(ctypes.byref(text), ctypes.byref(function)) != 0 or not function:
            raise UserError(f"the argument {value.name}: the installed tvm_ffi lacks the function {make}; run pip install --upgrade apache-tvm-ffi")
        if library.TVMFFIFunctionCall(function, arguments, len(items), ctypes.byref(result)) != 0:
            raise UserError(f"the argument {value.name}: tvm_ffi failed to make a list")
        out.type_index, out.v.ptr = result.type_index, result.v.ptr  # the object is never freed: the process ends after the call

    def _set_tensor_object(self, library: ctypes.CDLL, any_value: _Any) -> None:
        """Replaces the DLTensor in `any_value` by a tensor object of the host. An element of a list must be an object,
        because the list holds references to its elements."""

        managed = _Managed((1, 1), None, None, 0, _DLTensor.from_address(any_value.v.ptr))
        result = ctypes.c_void_p()
        self._kept(managed)
        if library.TVMFFITensorFromDLPackVersioned(ctypes.byref(managed), 0, 0, ctypes.byref(result)) != 0:
            raise UserError("tvm_ffi failed to make a tensor object for an element of a list")
        any_value.type_index, any_value.v.ptr = _TENSOR_OBJECT, result.value

    def _new_tensor(self, prototype: Any, out: Any, error: int, set_error: int) -> int:
        """Allocates a tensor for the op, as a framework does, and stores it in out[0]. Returns 0. After an error,
        passes the error to `set_error` and returns -1. The memory is never freed: the process ends after the call."""
        try:
            model = prototype.contents
            shape = ctypes.cast(model.shape, ctypes.POINTER(ctypes.c_int64))[: model.ndim]
            value = Value("", "tensor", None, tuple(shape), None, (model.code, model.bits, model.lanes), tuple(model.device))
            size = max(-(-value.num_elements() * value.item_bits() // 8), 1)
            memory: Any = None
            if value.device[0] == _CUDA:
                self.driver = self.driver or Driver()
                memory = DeviceMemory(self.driver, value.device[1], 0, size, None, is_new=True)
            else:
                memory = Memory(Storage(value.device, 0, size, None))
            self.keep.append(memory)
            sizes = ctypes.c_int64 * max(model.ndim, 1)
            tensor = _DLTensor(memory.base, model.device, model.ndim, model.code, model.bits, model.lanes, self._kept(sizes(*shape)),
                               self._kept(sizes(*value.all_strides())), 0)  # fmt: skip
            out[0] = self._kept(_Managed((1, 1), None, None, 0, tensor))
            return 0
        except Exception as problem:  # the caller is C, so no exception may leave this function
            _SetError(set_error)(error, b"MemoryError", str(problem).encode())
            return -1

    def returned(self, address: int) -> Optional[Returned]:
        """Returns the tensor of the object at `address`, which the call returned, or None if neither the CPU nor
        the driver can read the tensor's memory."""
        tensor = _DLTensor.from_address(address + _HEADER)
        pointer = ctypes.POINTER(ctypes.c_int64)
        shape = tuple(ctypes.cast(tensor.shape, pointer)[: tensor.ndim])
        strides = tuple(ctypes.cast(tensor.strides, pointer)[: tensor.ndim]) if tensor.strides else None
        first = tensor.data + tensor.byte_offset
        value = Value("result", "tensor", None, shape, strides, (tensor.code, tensor.bits, tensor.lanes), tuple(tensor.device), first)
        if value.num_elements() == 0:
            return Returned(value, first, b"")
        reach = [(size - 1) * stride for size, stride in zip(shape, value.all_strides())]
        begin = first + sum(r for r in reach if r < 0) * value.item_bits() // 8
        end = first - (-(sum(r for r in reach if r > 0) + 1) * value.item_bits() // 8)
        if value.device[0] == _CUDA and self.driver is not None:
            return Returned(value, begin, self.driver.read(value.device[1], begin, end - begin))
        return Returned(value, begin, ctypes.string_at(begin, end - begin)) if value.device[0] in _OF_HOST else None


def _error_of(library: ctypes.CDLL) -> str:
    """Returns the error of a failed call, as "KIND: message", from the host's slot or, if the slot is empty, from the
    library."""
    library.kernkit_last_error.restype = ctypes.c_char_p
    own = library.kernkit_last_error().decode("utf-8", "replace")
    try:
        take = ctypes.CDLL(None).TVMFFIErrorMoveFromRaised
    except AttributeError:
        return str(own)
    error = ctypes.c_void_p()
    take(ctypes.byref(error))
    if not error:
        return str(own)
    cell = (_ByteArray * 2).from_address((error.value or 0) + 24)
    kind, message = (ctypes.string_at(part.data, part.size).decode("utf-8", "replace") for part in cell)
    return f"{kind}: {message}"


def load_host() -> Optional[ctypes.CDLL]:
    """Returns the shared library of the package apache-tvm-ffi, which makes lists and objects for calls, or None if the
    package is not installed. The package is imported only if the library is not in its usual folder, since the package
    imports PyTorch if PyTorch is installed."""
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is None or spec.origin is None:
        return None
    path = pathlib.Path(spec.origin).parent / "lib/libtvm_ffi.so"
    if not path.is_file():  # some versions of the package have the library in another folder
        path = pathlib.Path(importlib.import_module("tvm_ffi").libinfo.find_libtvm_ffi())
    return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


class PreparedCall:
    """A recorded call with its arguments in memory."""

    def __init__(self, recording: Recording, path: pathlib.Path) -> None:
        self._recording = recording
        self._arguments = _Arguments(recording)
        try:
            self._library = ctypes.CDLL(str(path.resolve()))
            self._function = getattr(self._library, "__tvm_ffi_" + recording.op)
            self._nothing = self._library["kernkit_last_error"]
        except (OSError, AttributeError) as problem:
            raise UserError(f"{path} cannot be loaded, or has no op {recording.op}: {problem}") from None
        self._result = _Any()
        self._call = (None, self._arguments.array, len(recording.arguments), ctypes.byref(self._result))

    @property
    def memory(self) -> List[Any]:
        return self._arguments.memory

    def restore(self) -> None:
        """Writes the recorded contents of all storages into the memory again."""
        for memory, storage in zip(self._arguments.memory, self._recording.storages):
            memory.write(storage.content)

    def repeat(self) -> None:
        """Makes the call again and ignores the result. A returned object is never released."""
        self._result.type_index = _NONE
        self._function(*self._call)

    def nothing(self) -> None:
        """Calls kernkit_last_error(), which does no work, with the same arguments, to measure the time of a call
        through ctypes."""
        self._nothing(*self._call)

    def run(self) -> Outcome:
        """Makes the call and returns its outcome. The process ends if the op crashes."""
        self._result.type_index = _NONE
        code = self._function(*self._call)
        error = _error_of(self._library) if code != 0 else None
        result, value, has_value = self._result, None, True
        if result.type_index == _FLOAT:
            value = result.v.f64
        elif result.type_index in (_INT, _BOOL):
            value = result.v.i64
        elif result.type_index == _SMALL_STR:
            value = ctypes.string_at(ctypes.addressof(result.v), result.small_size).decode("utf-8", "surrogateescape")
        elif result.type_index == _STR:
            cell = _ByteArray.from_address(result.v.ptr + _HEADER)
            value = ctypes.string_at(cell.data, cell.size).decode("utf-8", "surrogateescape")
        elif result.type_index != _NONE:
            has_value = False
        try:
            written = self._recording.results.written if self._recording.results else {}
            contents = {i: memory.content() for i, (memory, storage) in enumerate(zip(self.memory, self._recording.storages))
                        if storage.content is not None or i in written}  # fmt: skip
            returned = self._arguments.returned(result.v.ptr) if result.type_index == _TENSOR_OBJECT else None
        except UserError as fault:  # an error of a kernel that the call launched
            return Outcome(error or f"CUDA: {fault}", value, has_value, {})
        return Outcome(error, value, has_value, contents, returned)


def call(recording: Recording, path: pathlib.Path) -> Outcome:
    """Calls the op of the library at `path` with the recorded arguments, and returns the outcome. The process ends if
    the op crashes."""
    return PreparedCall(recording, path).run()
