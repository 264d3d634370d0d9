# SPDX-License-Identifier: Apache-2.0
"""Rules about dtypes."""

import ctypes
from typing import Any, Dict, Sequence

from ..rule import MUST, SHOULD, Broken, NotApplicable, Rules, described
from . import sources
from .exporting import exported, raised
from .producers import NoSuchDtype, Producer
from .structures import DTYPES, SUBBYTE_PADDED

RULES = Rules()


def _require_dtypes(producer: Producer, names: Sequence[str]) -> None:
    """Checks the dtype in the capsule of an array of each named dtype. Dtypes that the package lacks or does not export
    are skipped. Raises Broken if a dtype differs, and NotApplicable if all dtypes are skipped."""
    tested, rejected = 0, []
    for name in names:
        producer.report(f"an export of {name}")
        try:
            array = producer.make((4,), name)
        except NoSuchDtype:
            continue
        try:
            capsule = exported(array)
        except Broken:
            raise
        except Exception:  # another rule checks the type of the exception
            rejected.append(name)
            continue
        tested += 1
        if capsule.dtype != (*DTYPES[name], 1):
            raise Broken(f"{name} is exported with (code, bits, lanes) = {capsule.dtype} instead of {(*DTYPES[name], 1)}")
        if capsule.flags & SUBBYTE_PADDED and DTYPES[name][1] >= 8:
            raise Broken(f"{name} has the flag IS_SUBBYTE_TYPE_PADDED, which is valid only for a dtype of less than 8 bits")
    if not tested:
        raise NotApplicable(f"the package does not export {', '.join(rejected)}" if rejected else "the package lacks the dtypes of this rule")


@RULES.add(MUST, sources.DTYPE)
def integers(producer: Producer) -> None:
    """Integers of 8 to 64 bits are exported as kDLInt and kDLUInt with their bits and one lane."""
    _require_dtypes(producer, [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)])


@RULES.add(MUST, sources.DTYPE)
def floats(producer: Producer) -> None:
    """float16, float32 and float64 are exported as kDLFloat with their bits and one lane."""
    _require_dtypes(producer, ("float16", "float32", "float64"))


@RULES.add(MUST, sources.DTYPE)
def bfloat16(producer: Producer) -> None:
    """bfloat16 is exported as kDLBfloat with 16 bits."""
    _require_dtypes(producer, ("bfloat16",))


@RULES.add(MUST, sources.DTYPE)
def complex_numbers(producer: Producer) -> None:
    """complex64 and complex128 are exported as kDLComplex, whose bits count the real and the imaginary part."""
    _require_dtypes(producer, ("complex64", "complex128"))


@RULES.add(MUST, sources.DTYPE)
def booleans(producer: Producer) -> None:
    """bool is exported as kDLBool with 8 bits."""
    _require_dtypes(producer, ("bool",))


@RULES.add(MUST, sources.DTYPE)
def float8(producer: Producer) -> None:
    """Each 8-bit float is exported with the code that dlpack.h defines for the float."""
    _require_dtypes(producer, [name for name in DTYPES if name.startswith("float8")])


@RULES.add(MUST, sources.DTYPE)
def sub_byte_types(producer: Producer) -> None:
    """Integers and floats of less than 8 bits are exported with their bits and one lane."""
    _require_dtypes(producer, [name for name, (_, bits) in DTYPES.items() if bits < 8])


# {dtype of less than 8 bits: the bit patterns of the values 0, 1, 2, 3}
_BITS = {**{name: [0, 1, 2, 3] for name in ("int4", "uint4", "int2", "uint2")}, "float4_e2m1fn": [0, 2, 4, 5],
         "float6_e2m3fn": [0, 8, 16, 20], "float6_e3m2fn": [0, 12, 16, 18]}  # fmt: skip


@RULES.add(MUST, sources.FLAGS)
def packed_elements(producer: Producer) -> None:
    """Elements of less than 8 bits are packed from the lowest bit of each byte, or have a byte each and the flag
    IS_SUBBYTE_TYPE_PADDED."""
    tested = False
    for name, values in _BITS.items():
        try:
            array = producer.make((4,), name)
            capsule = exported(array)
        except Broken:
            raise
        except Exception:  # the package has no array of this dtype, or does not export the array
            continue
        tested = True
        bits = DTYPES[name][1]
        number = sum(value << bits * index for index, value in enumerate(values))
        is_padded = bool(capsule.flags & SUBBYTE_PADDED)
        expected = bytes(values) if is_padded else number.to_bytes((4 * bits + 7) // 8, "little")
        content = ctypes.string_at(capsule.data, len(expected))
        if content != expected:
            raise Broken(f"{name}: 0, 1, 2, 3 are the bytes {content.hex(' ')} instead of {expected.hex(' ')}, with the flag IS_SUBBYTE_TYPE_PADDED "
                         f"{'set' if is_padded else 'not set'}")  # fmt: skip
    if not tested:
        raise NotApplicable("the package exports no dtype of less than 8 bits")


def _rejected(producer: Producer) -> Dict[str, Any]:
    """Returns {dtype: array} for the dtypes that the package has but does not export."""
    arrays = {}
    for name in DTYPES:
        try:
            array = producer.make((4,), name)
        except NoSuchDtype:
            continue
        producer.report(f"an export of {name}")
        if raised(array) is not None:
            arrays[name] = array
    return arrays


@RULES.add(SHOULD, sources.METHOD)
def arrays_without_dlpack(producer: Producer) -> None:
    """An array that DLPack or the package cannot export, for its dtype, byte order, device or strides, raises BufferError."""
    arrays = {**producer.without_dlpack(), **_rejected(producer)}
    if not arrays:
        raise NotApplicable("the package makes no array that DLPack cannot describe")
    problems = []
    for name, array in arrays.items():
        producer.report(f"an export of an array: {name}")
        try:
            exported(array)
        except BufferError:
            continue
        except Exception as error:
            problems.append(f"{name}: {described(error)}")
        else:
            problems.append(f"{name}: the export returns a capsule")
    if problems:
        raise Broken("; ".join(problems))
