# SPDX-License-Identifier: Apache-2.0
"""Reads the recording of a call: a folder that a library writes if KERNKIT_RECORD is set.

A recording is untrusted input: every member is checked before it is used, and no member is used as a path.
"""

import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

from ..errors import UserError
from . import safetensors

_MOST_TEXT = 1 << 26  # largest size of call.json [bytes]
_MOST_BYTES = 1 << 36  # largest total size of the storages of a call [bytes]
_MOST_RANK = 64
_TYPES = {"tensor", "int", "float", "bool", "str", "bytes", "none", "dtype", "device", "shape", "list", "other"}


class Storage(NamedTuple):
    """A range of memory that contains the elements of one or more tensors."""

    device: Tuple[int, int]  # DLPack's device type and device index
    address: int  # address of the first byte during the recorded call
    size: int  # bytes
    content: Optional[bytes]  # content of the memory, or None if the content was not recorded
    is_new: bool = False  # whether device memory without content is left uninitialised instead of filled with zeros


class Value(NamedTuple):
    """An argument or a result of a recorded call."""

    name: str
    type: str
    value: Any = None  # number, text, bytes, list of Value, dtype or device
    shape: Tuple[int, ...] = ()
    strides: Optional[Tuple[int, ...]] = None  # strides [elements], or None for a row-major DLTensor without strides
    dtype: Tuple[int, int, int] = (0, 0, 0)  # DLPack's type code, bits and lanes
    device: Tuple[int, int] = (1, 0)
    address: int = 0  # address of the element with all indices 0, during the recorded call
    byte_offset: int = 0
    is_written: bool = False
    is_object: bool = False  # whether the argument was a tensor object of the host, to which an op can keep a reference
    storage: Optional[int] = None  # index of the tensor's storage, or None for a tensor without elements

    def all_strides(self) -> Tuple[int, ...]:
        if self.strides is not None:
            return self.strides
        strides = [1] * len(self.shape)
        for i in range(len(self.shape) - 1, 0, -1):
            strides[i - 1] = strides[i] * self.shape[i]
        return tuple(strides)

    def num_elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    def item_bits(self) -> int:
        return self.dtype[1] * self.dtype[2]


class Results(NamedTuple):
    """The outcome of the recorded call: an error, or the values that the call returned and wrote."""

    error: Optional[str]  # error text, as in "ValueError: op(): ...", or None if the call succeeded
    value: Optional[Value]
    written: Dict[int, bytes]  # {index of a storage: its content after the call}
    nanoseconds: int
    returned: Tuple[Storage, ...] = ()  # storages of the tensors that the call returned


class Recording(NamedTuple):
    folder: pathlib.Path
    op: str
    schema: str
    library: str  # name of the library's file, for messages only
    arguments: List[Value]
    storages: List[Storage]
    skipped: Optional[str]  # reason why the values of tensors were not recorded, or None if they were recorded
    results: Optional[Results]  # None if the call did not return, or if its results are unknown
    is_part: bool = False  # whether the recording is a smaller call made by `kernkit replay --minimize`


def tensors_of(values: Sequence[Value]) -> Iterator[Value]:
    """Yields the tensors among the values, including tensors in lists."""
    for value in values:
        if value.type == "list":
            yield from tensors_of(value.value)
        elif value.type == "tensor":
            yield value


class _Damaged(Exception):
    pass


def _fail(what: str) -> NoReturn:
    raise _Damaged(what)


def _integer(node: Any, low: int, high: int) -> int:
    if type(node) is not int or not low <= node < high:
        _fail(f"an integer from {low} to {high - 1} was expected, not {str(node)[:40]}")
    return node


def _text(node: Any) -> str:
    if not isinstance(node, str):
        _fail(f"a string was expected, not {str(node)[:40]}")
    return node


def _numbers(node: Any, count: Optional[int], low: int, high: int) -> Tuple[int, ...]:
    if not isinstance(node, list) or (count is not None and len(node) != count):
        _fail(f"a list of integers was expected, not {str(node)[:40]}")
    return tuple(_integer(number, low, high) for number in node)


def _device(node: Any) -> Tuple[int, int]:
    kind, index = _numbers(node, 2, -(2**31), 2**31)
    return kind, index


def _dtype(node: Any) -> Tuple[int, int, int]:
    code, bits, lanes = _numbers(node, 3, 0, 2**16)
    if code > 255 or bits > 255:
        _fail(f"a dtype has code {code} and {bits} bits; both numbers must be at most 255")
    return code, bits, lanes


def _tensor(name: str, node: Dict[str, Any], storages: List[Storage]) -> Value:
    shape = _numbers(node["shape"], None, 0, 2**63)
    if len(shape) > _MOST_RANK:
        _fail(f"the tensor {name} has {len(shape)} dimensions; at most {_MOST_RANK} are supported")
    strides = None if node["strides"] is None else _numbers(node["strides"], len(shape), -(2**63), 2**63)
    address = _integer(node["address"], 0, 2**64)
    value = Value(name, "tensor", None, shape, strides, _dtype(node["dlpack_dtype"]), _device(node["device"]), address,
                  _integer(node["byte_offset"], 0, 2**64), node["is_written"] is True, node.get("is_object") is True)  # fmt: skip
    if value.num_elements() == 0:
        return value
    reach = [(size - 1) * stride for size, stride in zip(shape, value.all_strides())]
    low = sum(r for r in reach if r < 0) * value.item_bits()
    high = (sum(r for r in reach if r > 0) + 1) * value.item_bits()
    begin, end = address + low // 8, address + -(-high // 8)
    for i, storage in enumerate(storages):
        if storage.device == value.device and storage.address <= begin and end <= storage.address + storage.size:
            return value._replace(storage=i)
    _fail(f"the tensor {name} is outside the recorded memory")


def _value(node: Any, storages: List[Storage], name: str = "", depth: int = 0) -> Value:
    kind = node["type"]
    name = _text(node.get("name", name))
    if kind not in _TYPES or depth > 4:
        _fail(f"the type {str(kind)[:40]} is unknown, or lists are nested too deeply")
    if kind == "tensor":
        return _tensor(name, node, storages)
    if kind == "list":
        if not isinstance(node["items"], list):
            _fail("a list was expected")
        items = [_value(item, storages, f"{name}_{i}", depth + 1) for i, item in enumerate(node["items"])]
        return Value(name, kind, items)
    value: Any = None
    if kind == "int":
        value = _integer(node["value"], -(2**63), 2**63)
    elif kind == "float":
        value = float(node["value"])
    elif kind == "bool":
        value = node["value"] is True
    elif kind == "bytes":
        value = bytes.fromhex(_text(node["hex"]))
    elif kind == "dtype":
        value = _dtype(node["dlpack_dtype"])
    elif kind == "device":
        value = _device(node["device"])
    elif kind == "shape":
        value = _numbers(node["value"], None, -(2**63), 2**63)
    elif kind in ("str", "other"):
        value = _text(node["value"])
    return Value(name, kind, value)


def _storages(nodes: Any, entries: Dict[str, bytes]) -> List[Storage]:
    if not isinstance(nodes, list):
        _fail("a list of storages was expected")
    storages, total = [], 0
    for node in nodes:
        size = _integer(node["bytes"], 1, _MOST_BYTES)
        content = None
        if node["entry"] is not None:
            content = entries.get(_text(node["entry"]))
            if content is None or len(content) != size:
                _fail(f"the values of {node['entry']!r} are missing or incomplete")
        storages.append(Storage(_device(node["device"]), _integer(node["address"], 0, 2**64 - size), size, content))
        total += size
    if total > _MOST_BYTES:
        _fail(f"the tensors have {total} bytes; at most {_MOST_BYTES} are supported")
    return storages


def _json(path: pathlib.Path) -> Any:
    text = safetensors.read_file(path, _MOST_TEXT).decode("utf-8", "surrogateescape")
    return json.loads(text, parse_int=lambda digits: -0.0 if digits == "-0" else int(digits))


def _results(folder: pathlib.Path, storages: List[Storage]) -> Optional[Results]:
    if not os.path.lexists(folder / "results.json"):
        return None
    node = _json(folder / "results.json")
    after = _storages(node["storages"], safetensors.read(folder / "outputs.safetensors"))
    written = {i: s.content for i, s in enumerate(after) if s.content is not None}
    if len(after) > len(storages) or any(after[i].size != storages[i].size for i in written):
        written = {}  # the call moved or freed tensors, so the contents cannot be compared
    error = _text(node["error"]) if node["code"] != 0 else None
    value: Optional[Value] = None
    returned: List[Storage] = []
    if error is None:
        returned = _storages(node["result_storages"], safetensors.read(folder / "result.safetensors"))
        value = _value(node["result"], returned)
    return Results(error, value, written, _integer(node["nanoseconds"], 0, 2**63), tuple(returned))


def read(folder: pathlib.Path) -> Recording:
    """Returns the recording in `folder`. Raises UserError if the folder is not a recording, or if a file of the
    recording cannot be read or is damaged."""
    path = folder / "call.json"
    if not path.is_file():
        raise UserError(f"{folder} is not a recording: call.json not found; name a folder that a library wrote into the folder of KERNKIT_RECORD")
    try:
        node = _json(path)
        if node.get("format") != "kernkit call" or node.get("version") != 1:
            raise UserError(f"{path} is a recording of another version of kernkit; replay the call with that version, or record the call again")
        storages = _storages(node["storages"], safetensors.read(folder / "inputs.safetensors"))
        arguments = [_value(argument, storages) for argument in node["arguments"]]
        skipped = _text(node["skipped"]) if "skipped" in node else None
        path = folder / "results.json"
        results = _results(folder, storages)
        return Recording(folder, _text(node["op"]), _text(node["schema"]), _text(node["library"]), arguments, storages, skipped, results,
                         node.get("is_part") is True)  # fmt: skip
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise UserError(f"{path} is damaged: the key {error} is missing") from None
    except (_Damaged, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
