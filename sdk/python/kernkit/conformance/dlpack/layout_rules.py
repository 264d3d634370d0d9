# SPDX-License-Identifier: Apache-2.0
"""Rules about shape, strides, data and elements."""

import math
from typing import Any, Callable, List

from ..rule import MUST, SHOULD, Broken, NotApplicable, Rules, described
from . import sources
from .capsule import Capsule
from .exporting import exported
from .producers import Producer

RULES = Rules()
_SHAPES = ((), (1,), (5,), (2, 3), (1, 4, 1), (2, 1, 3), (2, 3, 2, 2))
_EMPTY = ((0,), (0, 3), (3, 0, 2))
_ALIGNMENT = 256  # [bytes]


def _require_elements(capsule: Capsule, expected: List[int], what: str) -> None:
    elements = capsule.elements()
    if elements != expected:
        raise Broken(f"{what}: the elements are {elements[:6]} instead of {expected[:6]}; byte_offset {capsule.tensor.byte_offset}, "
                     f"strides {list(capsule.strides)}")  # fmt: skip


@RULES.add(MUST, sources.TENSOR)
def shape(producer: Producer) -> None:
    """`ndim` and `shape` in the capsule equal the array's `ndim` and `shape`."""
    for expected in (*_SHAPES, *_EMPTY):
        capsule = exported(producer.make(expected))
        if capsule.tensor.ndim != len(expected):
            raise Broken(f"an array of shape {list(expected)} has ndim {capsule.tensor.ndim}")
        if capsule.shape != expected:
            raise Broken(f"an array of shape {list(expected)} is exported with shape {list(capsule.shape)}")


@RULES.add(MUST, sources.TENSOR)
def strides_present(producer: Producer) -> None:
    """In a capsule of version 1.2 or newer the pointer to the strides is not NULL, unless the rank is zero."""
    for expected in (*_SHAPES[1:], *_EMPTY):
        capsule = exported(producer.make(expected))
        if capsule.version < (1, 2):
            raise NotApplicable(f"the capsule has version {'.'.join(map(str, capsule.version))}, where NULL means row-major")
        if not capsule.tensor.strides:
            raise Broken(f"an array of shape {list(expected)} has NULL strides in a capsule of version {'.'.join(map(str, capsule.version))}")


@RULES.add(MUST, sources.TENSOR)
def elements(producer: Producer) -> None:
    """The data pointer, `byte_offset` [bytes] and the strides [elements] lead to every element of the array, also for
    dimensions of size one."""
    for expected in _SHAPES[1:]:
        for dtype in ("float32", "int32"):
            array = producer.make(expected, dtype)
            _require_elements(exported(array), list(range(math.prod(expected))), f"{dtype} {list(expected)}")


@RULES.add(MUST, sources.TENSOR)
def rank_zero(producer: Producer) -> None:
    """The capsule of an array of rank zero has `ndim` 0 and one element."""
    capsule = exported(producer.make(()))
    if capsule.tensor.ndim:
        raise Broken(f"ndim is {capsule.tensor.ndim}")
    _require_elements(capsule, [0], "float32 []")


def _view(producer: Producer, what: str, make_view: Callable[[Any], Any], expected: List[int]) -> None:
    try:
        view = make_view(producer.make((4, 6)))
    except Exception as error:  # DLPack does not require that an array supports indexing
        raise NotApplicable(f"the array has no {what}: {described(error)}") from error
    try:
        capsule = exported(view)
    except BufferError as error:
        raise NotApplicable(f"a {what} is not exported: {described(error)}") from error
    _require_elements(capsule, expected, what)


@RULES.add(MUST, sources.TENSOR)
def sliced_view(producer: Producer) -> None:
    """The capsule of a slice `[1:, 2:5]` of a matrix begins at the first element of the slice, by the data pointer or
    by `byte_offset`."""
    _view(producer, "slice", lambda array: array[1:, 2:5], [6 * row + column for row in range(1, 4) for column in range(2, 5)])


@RULES.add(MUST, sources.TENSOR)
def strided_view(producer: Producer) -> None:
    """The capsule of a slice `[::2, 1::3]` of a matrix has the elements of the slice, with a stride of more than one
    element in each row."""
    _view(producer, "slice with steps", lambda array: array[::2, 1::3], [1, 4, 13, 16])


@RULES.add(MUST, sources.TENSOR)
def transposed_view(producer: Producer) -> None:
    """The capsule of a transposed matrix has the elements of the transposed matrix."""
    _view(producer, "transpose", lambda array: array.T, [6 * row + column for column in range(6) for row in range(4)])


@RULES.add(MUST, sources.TENSOR)
def reversed_view(producer: Producer) -> None:
    """The capsule of a slice `[::-1]` has the elements of the slice, or the export raises BufferError."""
    _view(producer, "slice with a negative step", lambda array: array[::-1, 0], [18, 12, 6, 0])


@RULES.add(MUST, sources.TENSOR)
def empty_array(producer: Producer) -> None:
    """The capsule of an array without elements has a dimension of size zero."""
    for expected in _EMPTY:
        if 0 not in exported(producer.make(expected)).shape:
            raise Broken(f"an array of shape {list(expected)} is exported with elements")


@RULES.add(SHOULD, sources.TENSOR)
def empty_data(producer: Producer) -> None:
    """The data pointer of an array without elements is NULL."""
    for expected in _EMPTY:
        data = exported(producer.make(expected)).tensor.data
        if data:
            raise Broken(f"an array of shape {list(expected)} has a data pointer that is not NULL")


@RULES.add(SHOULD, sources.TENSOR)
def aligned_data(producer: Producer) -> None:
    """The data pointer is a multiple of 256 bytes, and `byte_offset` is the distance to the first element. dlpack.h
    notes that many packages break this rule."""
    arrays = {count: producer.make((count,)) for count in (1, 3, 5, 7, 64, 1000)}  # arrays that coexist, so that their addresses differ
    for count, array in arrays.items():
        data = exported(array).tensor.data or 0
        if data % _ALIGNMENT:
            raise Broken(f"the data pointer of {count} elements is a multiple of {data & -data} bytes")
