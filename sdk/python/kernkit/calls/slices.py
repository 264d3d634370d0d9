# SPDX-License-Identifier: Apache-2.0
"""A part of a recorded call: tensors with fewer elements.

A tensor without gaps stays without gaps, at the recorded address. Other tensors, and tensors that overlap, keep their
strides and become views of the recorded memory; the memory before the first and after the last remaining element is
left out.
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .recording import Recording, Storage, Value, tensors_of
from .sizes import Interval, Selection

Contents = Dict[int, bytes]  # {index of a storage: content of the storage}


class _Part(NamedTuple):
    """A tensor, and the intervals of indices that remain in each dimension."""

    value: Value
    runs: Tuple[Tuple[Interval, ...], ...]

    @property
    def new_shape(self) -> Tuple[int, ...]:
        return tuple(sum(length for _, length in runs) for runs in self.runs)

    @property
    def is_whole(self) -> bool:
        return self.new_shape == self.value.shape


def _memory_order(value: Value) -> Optional[List[int]]:
    """Returns the dimensions from the largest stride to the smallest, or None for a tensor with gaps or with
    overlapping elements."""
    strides = value.all_strides()
    order = sorted(range(len(strides)), key=lambda axis: (-strides[axis], axis))
    expected = 1
    for axis in reversed(order):
        if value.shape[axis] == 1:
            continue
        if strides[axis] != expected:
            return None
        expected *= value.shape[axis]
    return order


def _dense_strides(shape: Sequence[int], order: Sequence[int]) -> Tuple[int, ...]:
    strides, product = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = product
        product *= shape[axis]
    return tuple(strides)


def _gathered(part: _Part, order: List[int], content: bytes) -> bytes:
    """Returns the bytes of the elements that remain, in the order of their addresses."""
    shape = [part.value.shape[axis] for axis in order]
    runs = [part.runs[axis] for axis in order]
    sizes = [part.value.item_bits() // 8] * (len(order) + 1)  # sizes[i + 1]: bytes per index of dimension i
    for i in range(len(order) - 1, -1, -1):
        sizes[i] = sizes[i + 1] * shape[i]
    last = max((i for i in range(len(order)) if runs[i] != ((0, shape[i]),)), default=-1)  # last cut dimension, or -1
    view, pieces = memoryview(content), []

    def gather(i: int, at: int) -> None:
        if i > last:
            pieces.append(view[at : at + sizes[i]])
            return
        for start, length in runs[i]:
            if i == last:
                pieces.append(view[at + start * sizes[i + 1] : at + (start + length) * sizes[i + 1]])
                continue
            for index in range(start, start + length):
                gather(i + 1, at + index * sizes[i + 1])

    gather(0, 0)
    return b"".join(pieces)


def _packed(parts: List[_Part], storage: Storage) -> Optional[List[int]]:
    """Returns the dimensions from the largest stride to the smallest, or None if the tensors of the storage differ, do
    not fill the storage, or have gaps."""
    first = parts[0]
    if any((p.value.address, p.value.shape, p.value.all_strides(), p.value.dtype, p.runs)
           != (first.value.address, first.value.shape, first.value.all_strides(), first.value.dtype, first.runs) for p in parts):  # fmt: skip
        return None
    if first.value.num_elements() * (first.value.item_bits() // 8) != storage.size or first.value.address != storage.address:
        return None
    return _memory_order(first.value)


def _view(part: _Part) -> Optional[Tuple[Value, int, int]]:
    """Returns (tensor of the indices that remain, address of its first byte, address past its last byte), with the
    recorded strides, or None if the indices do not form a single view."""
    if any(len(runs) != 1 for runs in part.runs):
        return None
    value, strides, bits = part.value, part.value.all_strides(), part.value.item_bits()
    shift = sum(runs[0][0] * stride for runs, stride in zip(part.runs, strides)) * bits
    if shift % 8 != 0:
        return None
    shape = part.new_shape
    strides_of_result = value.strides if value.strides is not None or shape[1:] == value.shape[1:] else strides
    new = value._replace(shape=shape, strides=strides_of_result, address=value.address + shift // 8)
    reach = [(size - 1) * stride for size, stride in zip(shape, strides)]
    low, high = sum(r for r in reach if r < 0) * bits, (sum(r for r in reach if r > 0) + 1) * bits
    return new, new.address + low // 8, new.address + -(-high // 8)


class _Slicer:
    def __init__(self, recording: Recording, contents: Sequence[Contents]) -> None:
        self.recording, self.contents = recording, contents
        self.storages: List[Storage] = []
        self.new_contents: List[Contents] = [{} for _ in contents]

    def pack(self, parts: List[_Part], index: int, order: List[int]) -> List[Value]:
        """Adds a storage that has the remaining elements of a tensor without gaps. Returns the smaller tensors."""
        storage, shape = self.recording.storages[index], parts[0].new_shape
        strides = _dense_strides(shape, order)
        new = len(self.storages)
        size = parts[0].value.item_bits() // 8
        for length in shape:
            size *= length
        content = None if storage.content is None else _gathered(parts[0], order, storage.content)
        self.storages.append(storage._replace(size=size, content=content))
        for old_contents, contents in zip(self.contents, self.new_contents):
            if index in old_contents:
                contents[new] = _gathered(parts[0], order, old_contents[index])
        return [part.value._replace(shape=shape, strides=None if part.value.strides is None else strides, storage=new) for part in parts]

    def cut(self, parts: List[_Part], index: int) -> Optional[List[Value]]:
        """Adds storages for the remaining elements of tensors that keep their strides; tensors that overlap share a
        storage. Returns the smaller tensors, or None if a tensor's indices do not form one view."""
        storage = self.recording.storages[index]
        views = []
        for part in parts:
            view = _view(part)
            if view is None:
                return None
            views.append(view)
        ranges: List[Tuple[int, int]] = []
        for begin, end in sorted((begin, end) for _, begin, end in views):
            if ranges and begin < ranges[-1][1]:
                ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
            else:
                ranges.append((begin, end))
        first = len(self.storages)
        for number, (begin, end) in enumerate(ranges, first):
            low, high = begin - storage.address, end - storage.address
            content = None if storage.content is None else storage.content[low:high]
            self.storages.append(storage._replace(address=begin, size=end - begin, content=content))
            for old_contents, contents in zip(self.contents, self.new_contents):
                if index in old_contents:
                    contents[number] = old_contents[index][low:high]
        return [value._replace(storage=first + next(i for i, (low, high) in enumerate(ranges) if low <= begin < high))
                for value, begin, _ in views]  # fmt: skip

    def slice(self, selection: Selection) -> Optional[List[Value]]:
        """Returns the smaller tensors, in the order of tensors_of(), or None if a tensor's elements cannot be
        selected."""
        tensors = list(tensors_of(self.recording.arguments))
        by_storage: Dict[int, List[int]] = {}
        for number, value in enumerate(tensors):
            if value.storage is not None:
                by_storage.setdefault(value.storage, []).append(number)
        for index, numbers in by_storage.items():
            parts = [_Part(tensors[number], tuple(tuple(selection.runs.get((number, axis), [(0, size)]))
                                                  for axis, size in enumerate(tensors[number].shape))) for number in numbers]  # fmt: skip
            if any(part.value.item_bits() % 8 != 0 and not part.is_whole for part in parts):
                return None
            order = _packed(parts, self.recording.storages[index]) if all(p.value.item_bits() % 8 == 0 for p in parts) else None
            values = self.pack(parts, index, order) if order is not None else self.cut(parts, index)
            if values is None:
                return None
            for number, value in zip(numbers, values):
                tensors[number] = value
        return tensors


def part_of(recording: Recording, selection: Selection, contents: Sequence[Contents]) -> Optional[Tuple[Recording, List[Contents]]]:
    """Returns (the call with the selected elements and without results, the same elements of each of `contents`), or
    None if the elements of a tensor cannot be selected."""
    slicer = _Slicer(recording, contents)
    tensors = slicer.slice(selection)
    if tensors is None:
        return None
    remaining = iter(tensors)

    def replaced(value: Value) -> Value:
        if value.type == "list":
            return value._replace(value=[replaced(item) for item in value.value])
        return next(remaining) if value.type == "tensor" else value

    arguments = [replaced(value) for value in recording.arguments]
    for i, number in selection.numbers.items():
        arguments[i] = arguments[i]._replace(value=number)
    new = recording._replace(arguments=arguments, storages=slicer.storages, results=None, is_part=True)
    return new, slicer.new_contents
