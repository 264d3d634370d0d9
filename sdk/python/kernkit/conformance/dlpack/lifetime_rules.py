# SPDX-License-Identifier: Apache-2.0
"""Rules about the owner of the memory: capsule, consumer and deleter."""

import ctypes
import gc
from typing import Any, Callable, List

from ..heap import bytes_in_use
from ..rule import MUST, Broken, NotApplicable, Rules
from . import sources
from .capsule import Capsule
from .exporting import export, exported
from .producers import Producer

RULES = Rules()
_ROUNDS = 1000
_ARRAYS = 30
_LARGE = 1 << 18  # number of elements of an array so large that a leak exceeds the noise of malloc()


def _exports(producer: Producer) -> List[Callable[[Any], Capsule]]:
    """Returns the functions export() and exported(), without a function whose call the producer rejects by a
    BufferError."""
    kinds: List[Callable[[Any], Capsule]] = []
    for kind in (export, exported):
        try:
            kind(producer.make((2, 3)))
        except BufferError:
            continue
        kinds.append(kind)
    return kinds


def _growth(action: Callable[[], None], rounds: int) -> int:
    """Returns the number of bytes that `rounds` calls of `action` leave allocated. rounds / 10 calls before the
    measurement fill caches."""
    for _ in range(rounds // 10):
        action()
    gc.collect()
    before = bytes_in_use()
    for _ in range(rounds):
        action()
    gc.collect()
    return bytes_in_use() - before


@RULES.add(MUST, sources.PYTHON)
def unconsumed_capsule(producer: Producer) -> None:
    """A capsule that no consumer took calls the deleter at most once when the capsule is deleted; without a call, the
    memory is released in another way."""
    for kind in _exports(producer):
        capsule = kind(producer.make((2, 3)))
        if not capsule.managed.deleter:
            raise NotApplicable("the deleter is NULL")
        calls = capsule.count_deletions()
        capsule.drop()
        gc.collect()
        if len(calls) > 1:
            raise Broken(f"the deletion of a capsule named {capsule.name.decode()} calls the deleter {len(calls)} times")
        if not calls:
            grown = _growth(lambda: kind(producer.make((_LARGE,))).drop(), _ARRAYS)
            if grown > _ARRAYS * _LARGE:
                raise Broken(f"the deletion of a capsule named {capsule.name.decode()} calls no deleter; {_ARRAYS} arrays of {4 * _LARGE} bytes "
                             f"leave {grown} bytes allocated")  # fmt: skip


@RULES.add(MUST, sources.PYTHON)
def consumed_capsule(producer: Producer) -> None:
    """A capsule that a consumer renamed to `used_dltensor` or `used_dltensor_versioned` calls no deleter when the
    capsule is deleted: the consumer calls the deleter."""
    for kind in _exports(producer):
        capsule = kind(producer.make((2, 3)))
        calls = capsule.count_deletions()
        capsule.consume()
        gc.collect()
        if calls:
            raise Broken(f"the destructor of a consumed capsule, exported as {capsule.name.decode()}, calls the deleter")
        capsule.delete()


@RULES.add(MUST, sources.SEMANTICS)
def data_outlives_array(producer: Producer) -> None:
    """The elements of a consumed capsule keep their values after the array is deleted, until the deleter is called."""
    for kind in _exports(producer):
        capsules = []
        for _ in range(8):
            array = producer.make((2, 3, 64))
            capsules.append(kind(array))
            capsules[-1].consume()
            del array
        gc.collect()
        later_arrays = [producer.make((2, 3, 64), "int32") for _ in range(32)]  # arrays that would reuse freed memory
        for capsule in capsules:
            if capsule.shape != (2, 3, 64) or capsule.elements() != list(range(384)):
                raise Broken("the elements change after the array is deleted")
            capsule.delete()
        del later_arrays


@RULES.add(MUST, sources.PYTHON)
def exports_are_independent(producer: Producer) -> None:
    """Each export has its own structure and its own deleter call: the deletion of one export does not change another
    export."""
    array = producer.make((2, 3))
    first, second = exported(array), exported(array)
    if first.address == second.address:
        raise Broken("two capsules have the same structure")
    first.consume()
    second.consume()
    first.delete()
    if second.shape != (2, 3) or second.elements() != list(range(6)):
        raise Broken("the deletion of an export changes another export of the same array")
    second.delete()
    if exported(array).elements() != list(range(6)):
        raise Broken("the deletion of the exports changes the array")


@RULES.add(MUST, sources.PYTHON)
def deleter_without_gil(producer: Producer) -> None:
    """The deleter can be called from a thread that Python did not start, without the GIL."""
    libc = ctypes.CDLL(None)  # functions of a CDLL run without the GIL
    for kind in _exports(producer):
        capsule = kind(producer.make((2, 3)))
        capsule.consume()
        if not capsule.managed.deleter:
            raise NotApplicable("the deleter is NULL")
        gc.collect()
        thread = ctypes.c_ulong()
        deleter, address = ctypes.c_void_p(capsule.managed.deleter), ctypes.c_void_p(capsule.address)
        producer.report("the deleter, called in a thread of C")
        if libc.pthread_create(ctypes.byref(thread), None, deleter, address):
            raise RuntimeError("pthread_create failed")
        libc.pthread_join(thread, None)


@RULES.add(MUST, sources.PYTHON)
def structure_is_released(producer: Producer) -> None:
    """1000 exports, consumed or not, leave no structure allocated."""
    array = producer.make((2, 3))

    def consume(kind: Callable[[Any], Capsule]) -> None:
        capsule = kind(array)
        capsule.consume()
        capsule.delete()

    for kind in _exports(producer):
        for what, action in (("consumed", lambda: consume(kind)), ("not consumed", lambda: kind(array).drop())):
            grown = _growth(action, _ROUNDS)
            if grown > 16 * _ROUNDS:
                raise Broken(f"{_ROUNDS} exports, {what}, leave {grown} bytes allocated")


@RULES.add(MUST, sources.PYTHON)
def array_is_released(producer: Producer) -> None:
    """The memory of an array is released after the array is deleted and the deleter has been called."""
    for kind in _exports(producer):

        def once(kind: Callable[[Any], Capsule] = kind) -> None:
            capsule = kind(producer.make((_LARGE,)))
            capsule.consume()
            capsule.delete()

        grown = _growth(once, _ARRAYS)
        if grown > _ARRAYS * _LARGE:  # limit [bytes]: a quarter of the size of all arrays, whose elements have four bytes
            raise Broken(f"{_ARRAYS} arrays of {4 * _LARGE} bytes leave {grown} bytes allocated")
