# SPDX-License-Identifier: Apache-2.0
"""Rules about the table of C functions that a package may offer in place of __dlpack__()."""

import ctypes
from typing import Any, Type

from ..rule import MUST, Broken, NotApplicable, Rules
from . import sources
from .capsule import DELETER, Capsule
from .exporting import exported
from .producers import Producer
from .structures import CPU, DLDataType, DLDevice, DLManagedTensorVersioned, DLPackVersion, DLTensor

RULES = Rules()
_ATTRIBUTE, _CAPSULE = "__dlpack_c_exchange_api__", b"dlpack_exchange_api"


class Table(ctypes.Structure):
    """struct DLPackExchangeAPI of dlpack.h."""

    _fields_ = [("version", DLPackVersion), ("previous", ctypes.c_void_p), ("allocator", ctypes.c_void_p),
                ("from_object", ctypes.c_void_p), ("to_object", ctypes.c_void_p), ("borrow", ctypes.c_void_p),
                ("stream", ctypes.c_void_p)]  # fmt: skip


_FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
_TO_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
_BORROW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_SET_ERROR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATOR = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, _SET_ERROR)


def _table(kind: Type[Any]) -> Table:
    """Returns the table of C functions that the class `kind` of arrays offers. Raises NotApplicable if the class has no
    table."""
    capsule = getattr(kind, _ATTRIBUTE, None)
    if capsule is None:
        raise NotApplicable(f"the type has no {_ATTRIBUTE}")
    pointer = ctypes.PyDLL(None).PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Table.from_address(pointer(capsule, _CAPSULE))


def _require_same(tensor: DLTensor, capsule: Capsule) -> None:
    expected = capsule.tensor
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if ((tensor.data or 0) + tensor.byte_offset, shape, bytes(tensor.dtype), bytes(tensor.device)) != (
        capsule.data, capsule.shape, bytes(expected.dtype), bytes(expected.device)):  # fmt: skip
        raise Broken("data, shape, dtype or device differs from the tensor that __dlpack__() exports")


@RULES.add(MUST, sources.EXCHANGE)
def exchange_table(producer: Producer) -> None:
    """The type's `__dlpack_c_exchange_api__`, if any, is a capsule named `dlpack_exchange_api` with a table of major version 1 whose
    required functions are not NULL."""
    table = _table(type(producer.make((2, 3))))
    if table.version.major != 1:
        raise Broken(f"the table has version {table.version.major}.{table.version.minor}; expected major version 1")
    if missing := [name for name in ("allocator", "from_object", "to_object", "stream") if not getattr(table, name)]:
        raise Broken(f"functions of the table are NULL: {', '.join(missing)}")


@RULES.add(MUST, sources.EXCHANGE)
def exchange_export(producer: Producer) -> None:
    """The table exports the same tensor as `__dlpack__()`, in a structure with its own deleter."""
    array = producer.make((2, 3))
    result = ctypes.c_void_p()
    if _FROM_OBJECT(_table(type(array)).from_object)(array, ctypes.byref(result)):
        raise Broken("managed_tensor_from_py_object_no_sync fails")
    managed = DLManagedTensorVersioned.from_address(result.value or 0)
    if managed.version.major != 1:
        raise Broken(f"the tensor has version {managed.version.major}.{managed.version.minor}; expected major version 1")
    _require_same(managed.dl_tensor, exported(array))
    if managed.deleter:
        DELETER(managed.deleter)(result.value)
    if exported(array).elements() != list(range(6)):
        raise Broken("the deleter changes the array")


@RULES.add(MUST, sources.EXCHANGE)
def exchange_borrow(producer: Producer) -> None:
    """The table's function `dltensor_from_py_object_no_sync`, if not NULL, returns the tensor of `__dlpack__()`."""
    array = producer.make((2, 3))
    function = _table(type(array)).borrow
    if not function:
        raise NotApplicable("the table has no dltensor_from_py_object_no_sync")
    tensor = DLTensor()
    if _BORROW(function)(array, ctypes.byref(tensor)):
        raise Broken("dltensor_from_py_object_no_sync fails")
    _require_same(tensor, exported(array))


@RULES.add(MUST, sources.EXCHANGE)
def exchange_import(producer: Producer) -> None:
    """The table imports a tensor that it exported: the result is an array of the package with the same memory."""
    array = producer.make((2, 3))
    table = _table(type(array))
    managed_pointer, result = ctypes.c_void_p(), ctypes.c_void_p()
    if _FROM_OBJECT(table.from_object)(array, ctypes.byref(managed_pointer)) or _TO_OBJECT(table.to_object)(managed_pointer, ctypes.byref(result)):
        raise Broken("managed_tensor_to_py_object_no_sync fails")
    imported = ctypes.cast(result, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(result)  # releases the reference that the function returned
    if type(imported) is not type(array):
        raise Broken(f"the result is of type {type(imported).__name__}; expected {type(array).__name__}")
    _require_same(exported(imported).tensor, exported(array))


@RULES.add(MUST, sources.EXCHANGE)
def exchange_allocator(producer: Producer) -> None:
    """The table's allocator creates a tensor with the prototype's shape, dtype and device."""
    table = _table(type(producer.make((2, 3))))
    messages = []
    set_error = _SET_ERROR(lambda context, kind, message: messages.append(f"{kind.decode()}: {message.decode()}"))
    shape = (ctypes.c_int64 * 2)(5, 7)
    prototype = DLTensor(None, DLDevice(CPU, 0), 2, DLDataType(2, 32, 1), shape, None, 0)
    result = ctypes.c_void_p()
    if _ALLOCATOR(table.allocator)(ctypes.byref(prototype), ctypes.byref(result), None, set_error):
        raise Broken(f"the allocator fails: {'; '.join(messages) or 'without a message'}")
    managed = DLManagedTensorVersioned.from_address(result.value or 0)
    tensor = managed.dl_tensor
    properties = (tuple(tensor.shape[i] for i in range(tensor.ndim)), bytes(tensor.dtype), bytes(tensor.device))
    if properties != ((5, 7), bytes(prototype.dtype), bytes(prototype.device)):
        raise Broken(f"the tensor has shape {list(properties[0])}; expected shape [5, 7] and the dtype and device of the prototype")
    ctypes.memset((tensor.data or 0) + tensor.byte_offset, 1, 5 * 7 * 4)
    if managed.deleter:
        DELETER(managed.deleter)(result.value)


@RULES.add(MUST, sources.EXCHANGE)
def exchange_stream(producer: Producer) -> None:
    """The table's function `current_work_stream` returns NULL as the stream of the CPU."""
    stream = ctypes.c_void_p(1)
    if _STREAM(_table(type(producer.make((2, 3)))).stream)(CPU, 0, ctypes.byref(stream)):
        raise Broken("current_work_stream fails")
    if stream.value:
        raise Broken(f"current_work_stream returns {stream.value:#x}")
