# SPDX-License-Identifier: Apache-2.0
"""Compares the results of a repeated call with the recorded results."""

import itertools
import math
import struct
from typing import Iterator, List, Optional, Tuple

from .dtypes import dtype_name
from .recording import Recording, Results, Value, tensors_of
from .replay import Outcome

_FORMATS = {(2, 16): "e", (2, 32): "f", (2, 64): "d", (0, 8): "b", (0, 16): "h", (0, 32): "i", (0, 64): "q",
            (1, 8): "B", (1, 16): "H", (1, 32): "I", (1, 64): "Q", (6, 8): "B", (4, 16): "H"}  # fmt: skip


def _number(data: bytes, at: int, value: Value) -> Optional[float]:
    """Returns the element of `value` at byte offset `at` of `data`, or None if the dtype is not in _FORMATS."""
    code, bits, lanes = value.dtype
    layout = _FORMATS.get((code, bits))
    if layout is None or lanes != 1:
        return None
    (number,) = struct.unpack_from("<" + layout, data, at)
    if code == 4:  # bfloat16, whose bits are the upper half of a float32
        (number,) = struct.unpack("<f", struct.pack("<I", number << 16))
    return number


def _offsets(value: Value, begin: int) -> Iterator[Tuple[Tuple[int, ...], int]]:
    """Yields (index without the last dimension, byte offset in the storage) of the first element of each row. The
    elements of a row differ in the last index only."""
    size, strides = value.item_bits() // 8, value.all_strides()
    for index in itertools.product(*map(range, value.shape[:-1])):
        yield index, value.address - begin + size * sum(i * stride for i, stride in zip(index, strides))


def _is_close(a: Optional[float], b: Optional[float], tolerance: float) -> bool:
    if a is None or b is None:
        return False
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b) and tolerance > 0
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b), 1.0)


def _compare(value: Value, begin: int, recorded: bytes, now: bytes, tolerance: float) -> Optional[str]:
    """Returns a message with the number of elements that differ and the first such element, or None if no element
    differs."""
    size = max(value.item_bits() // 8, 1)
    length = value.shape[-1] if value.shape else 1
    step = size * value.all_strides()[-1] if value.shape else size
    different, first = 0, ""
    for row, begin_of_row in _offsets(value, begin):
        if step == size and recorded[begin_of_row : begin_of_row + size * length] == now[begin_of_row : begin_of_row + size * length]:
            continue
        for i in range(length):
            at = begin_of_row + i * step
            old, new = recorded[at : at + size], now[at : at + size]
            if old == new:
                continue
            a, b = _number(recorded, at, value), _number(now, at, value)
            if tolerance > 0 and _is_close(a, b, tolerance):
                continue
            different += 1
            if different == 1:
                index = [*row, i] if value.shape else []
                first = f"[{', '.join(map(str, index))}] was {a if a is not None else old.hex()} and is {b if b is not None else new.hex()}"
    return f"{value.name}: {different} of {value.num_elements()} elements differ: {first}" if different else None


def compare(recording: Recording, outcome: Outcome, tolerance: float) -> Tuple[List[str], List[str]]:
    """Returns (messages about differences, names of the compared values). Requires that the recording has results."""
    results = recording.results
    assert results is not None
    if results.error != outcome.error:
        names = [f'the error "{error}"' if error else "no error" for error in (results.error, outcome.error)]
        return [f"the recorded call ended with {names[0]}, this call with {names[1]}"], []
    differences, compared = [], []
    if results.error is not None:
        return [], ["the error"]
    for value in tensors_of(recording.arguments):
        if value.is_written and value.storage is not None and value.storage in results.written:
            begin = recording.storages[value.storage].address
            recorded, now = results.written[value.storage], outcome.storages[value.storage]
            if recorded != now and (problem := _compare(value, begin, recorded, now, tolerance)):
                differences.append(problem)
            compared.append(value.name)
    if results.value is not None:
        problem, is_compared = _compare_results(results, outcome, tolerance)
        differences += [problem] if problem else []
        compared += ["result"] if is_compared else []
    return differences, compared


def _gathered(value: Value, begin: int, content: bytes) -> bytes:
    """Returns the bytes of the tensor's elements, in row-major order. `content`: the memory that begins at address
    `begin`."""
    size, length = value.item_bits() // 8, value.shape[-1] if value.shape else 1
    step = size * (value.all_strides()[-1] if value.shape else 1)
    rows = (at for _, at in _offsets(value, begin))
    if step == size or length == 1:
        return b"".join(content[at : at + size * length] for at in rows)
    return b"".join(content[at + i * step : at + i * step + size] for at in rows for i in range(length))


def _compare_results(results: Results, outcome: Outcome, tolerance: float) -> Tuple[Optional[str], bool]:
    """Returns (message about the difference of the returned values or None, whether the values were compared). Only
    numbers, strings and tensors with recorded content are compared."""
    value, now = results.value, outcome.returned
    assert value is not None
    if value.type in ("int", "bool", "float") and outcome.has_value:
        old, new = float(value.value), float(outcome.value) if isinstance(outcome.value, (int, float)) else math.nan
        is_equal = old == new or (math.isnan(old) and math.isnan(new)) or _is_close(old, new, tolerance)
        return (None if is_equal else f"result: was {old!r} and is {new!r}"), True
    if value.type == "str" and outcome.has_value:
        return (None if value.value == outcome.value else f"result: was {value.value!r} and is {outcome.value!r}"), True
    if value.type != "tensor" or now is None or value.item_bits() % 8 != 0:
        return None, False
    if (value.shape, value.dtype) != (now.value.shape, now.value.dtype):
        names = [f"{dtype_name(*v.dtype)}{list(v.shape)}" for v in (value, now.value)]
        return f"result: was {names[0]} and is {names[1]}", True
    if value.storage is None:
        return None, True
    storage = results.returned[value.storage]
    if storage.content is None:
        return None, False
    dense = value._replace(name="result", strides=None, address=0)
    recorded = _gathered(value, storage.address, storage.content)
    return _compare(dense, 0, recorded, _gathered(now.value, now.begin, now.content), tolerance), True
