# SPDX-License-Identifier: Apache-2.0
"""Writes a recording, in the form that a library writes if KERNKIT_RECORD is set."""

import json
import math
import pathlib
from typing import Any, Dict, List, Optional, Tuple

from ..errors import UserError
from . import safetensors
from .dtypes import dtype_name
from .recording import Recording, Storage, Value, tensors_of

_DTYPES = {(6, 8): "BOOL", (1, 8): "U8", (0, 8): "I8", (1, 16): "U16", (0, 16): "I16", (1, 32): "U32", (0, 32): "I32",
           (1, 64): "U64", (0, 64): "I64", (2, 16): "F16", (4, 16): "BF16", (2, 32): "F32", (2, 64): "F64"}  # fmt: skip


def _node(value: Value) -> Dict[str, Any]:
    node: Dict[str, Any] = {"name": value.name, "type": value.type}
    if value.type == "tensor":
        node.update(dtype=dtype_name(*value.dtype), dlpack_dtype=value.dtype, shape=value.shape, strides=value.strides, device=value.device,
                    address=value.address, byte_offset=value.byte_offset, is_object=value.is_object, is_written=value.is_written)  # fmt: skip
    elif value.type == "list":
        node["items"] = [_node(item) for item in value.value]
    elif value.type == "bytes":
        node["hex"] = value.value.hex()
    elif value.type == "dtype":
        node["dlpack_dtype"] = value.value
    elif value.type == "device":
        node["device"] = value.value
    elif value.type == "float":
        node["value"] = value.value if math.isfinite(value.value) else repr(value.value)
    elif value.type != "none":
        node["value"] = value.value
    return node


def _entry(i: int, tensors: List[Value], storage: Storage) -> Tuple[str, str, List[int]]:
    """Returns (name, dtype, shape) of the entry for storage `i` in the safetensors file."""
    own = [value for value in tensors if value.storage == i]
    name = own[0].name if own else f"storage_{i}"
    if len(own) == 1 and own[0].dtype[2] == 1 and own[0].dtype[:2] in _DTYPES:
        size = own[0].num_elements() * own[0].item_bits() // 8
        if size == storage.size and own[0]._replace(strides=None).all_strides() == own[0].all_strides():
            return name, _DTYPES[own[0].dtype[:2]], list(own[0].shape)
    return name, "U8", [storage.size]


def _write_memory(path: pathlib.Path, recording: Recording, contents: Dict[int, Optional[bytes]]) -> List[Dict[str, Any]]:
    """Writes the contents of storages into a safetensors file, and returns the description of each storage for the JSON
    file."""
    tensors = list(tensors_of(recording.arguments))
    nodes, entries = [], {}
    for i, storage in enumerate(recording.storages):
        content, entry = contents.get(i), None
        if content is not None:
            entry, dtype, shape = _entry(i, tensors, storage)
            entry = f"storage_{i}" if entry in entries else entry
            entries[entry] = (dtype, shape, content)
        nodes.append({"device": storage.device, "address": storage.address, "bytes": storage.size, "entry": entry})
    safetensors.write(path, entries)
    return nodes


def _write_json(path: pathlib.Path, node: Any) -> None:
    path.write_bytes(json.dumps(node, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")


def write(recording: Recording, folder: pathlib.Path) -> None:
    """Writes a recording into a new folder. A result that is not a number is left out. Raises UserError if the folder
    exists, or if a file cannot be written."""
    try:
        folder.mkdir(mode=0o700, parents=True)
        before = _write_memory(folder / "inputs.safetensors", recording, {i: s.content for i, s in enumerate(recording.storages)})
        call = {"format": "kernkit call", "version": 1, "op": recording.op, "schema": recording.schema, "library": recording.library,
                "is_part": recording.is_part, "arguments": [_node(value) for value in recording.arguments], "storages": before}  # fmt: skip
        if recording.skipped is not None:
            call["skipped"] = recording.skipped
        _write_json(folder / "call.json", call)
        results = recording.results
        if results is None:
            return
        after = _write_memory(folder / "outputs.safetensors", recording, dict(results.written))
        node: Dict[str, Any] = {"version": 1, "code": 0 if results.error is None else -1, "nanoseconds": results.nanoseconds, "storages": after}
        if results.error is None:
            is_number = results.value is not None and results.value.type in ("int", "bool", "float")
            node["result"] = _node(results.value) if is_number and results.value else {"name": "result", "type": "none"}
            node["result_storages"] = []
            safetensors.write(folder / "result.safetensors", {})
        else:
            node["error"] = results.error
        _write_json(folder / "results.json", node)
    except FileExistsError:
        raise UserError(f"{folder} exists; name a folder that does not exist") from None
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}; name a folder that can be written") from None
