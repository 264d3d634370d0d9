# SPDX-License-Identifier: Apache-2.0
"""Compares the results of a repeated call with the recorded results."""

import itertools
import math
import struct
from typing import Iterator, List, Optional, Tuple

from .recording import Recording, Value, tensors_of
from .replay import Outcome

_FORMATS = {(2, 16): "e", (2, 32): "f", (2, 64): "d", (0, 8): "b", (0, 16): "h", (0, 32): "i", (0, 64): "q",
            (1, 8): "B", (1, 16): "H", (1, 32): "I", (1, 64): "Q", (6, 8): "B", (4, 16): "H"}  # fmt: skip


def _number(data: bytes, at: int, value: Value) -> Optional[float]:
    """The element at an offset; None for a dtype without numbers here."""
    code, bits, lanes = value.dtype
    layout = _FORMATS.get((code, bits))
    if layout is None or lanes != 1:
        return None
    (number,) = struct.unpack_from("<" + layout, data, at)
    if code == 4:  # bfloat16 is the upper half of a float32
        (number,) = struct.unpack("<f", struct.pack("<I", number << 16))
    return number


def _offsets(value: Value, begin: int) -> Iterator[Tuple[Tuple[int, ...], int]]:
    """(index, offset in the storage [bytes]) of the first element of each row: of each index of all dimensions but the last."""
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
    """How many elements of a tensor differ, or None."""
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
    """(differences, what was compared). The recording has results."""
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
    if results.value is not None and outcome.has_value and results.value.type in ("int", "bool", "float"):
        old, new = float(results.value.value), float(outcome.value if outcome.value is not None else math.nan)
        if not (old == new or (math.isnan(old) and math.isnan(new)) or _is_close(old, new, tolerance)):
            differences.append(f"result: was {old!r} and is {new!r}")
        compared.append("result")
    return differences, compared
