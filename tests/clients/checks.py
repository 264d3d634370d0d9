# SPDX-License-Identifier: Apache-2.0
"""Functions that compare results with formulas in float64 and that bound rounding errors."""

import numpy as np

EPS32 = float(np.finfo(np.float32).eps)  # 2^-23: distance from 1 to the next float32
EPS16 = float(np.finfo(np.float16).eps)  # 2^-10
EPS_BF16 = 2.0**-7


def assert_close(actual, expected, bound):
    """Fails unless every element of `actual` differs from `expected` by at most `bound`, a number or an array."""
    actual, expected = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert actual.shape == expected.shape, f"shape {actual.shape} differs from {expected.shape}"
    error, bound = np.abs(actual - expected), np.broadcast_to(bound, expected.shape)
    wrong = ~(error <= bound)  # the comparison is false for NaN, so NaN counts as wrong
    if wrong.any():
        index = tuple(np.argwhere(wrong)[0])
        raise AssertionError(f"{wrong.sum()} of {wrong.size} elements are wrong, the first at {tuple(map(int, index))}: "
                             f"{actual[index]!r}, expected {expected[index]!r} within {bound[index]:.3g}")  # fmt: skip


def sum_bound(terms, magnitude, eps=EPS32):
    """Returns a bound on the error of a sum of `terms` numbers, added in any order. The error of each addition is at
    most eps / 2 times `magnitude`, the sum of the absolute values of the terms. The bound also allows one rounding of
    each term, such as the rounding of a product."""
    return terms * eps * magnitude


def product_bound(a, b, eps=EPS32):
    """Returns a bound on the error of a matrix product that adds in float32 and rounds the result once to a type whose
    machine epsilon is `eps`."""
    magnitude = np.abs(np.asarray(a, np.float64)) @ np.abs(np.asarray(b, np.float64))
    return sum_bound(np.shape(a)[-1], magnitude) + eps * magnitude


def to_bf16(values):
    """Returns the values rounded to bfloat16, to nearest even, as an array of uint16 that contains the bits."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    """Converts bfloat16 numbers, given by their bits, to float32."""
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def to_tf32(values):
    """Returns the values as float32, truncated to the 10 bits of fraction that a tensor core reads of a tf32
    operand."""
    return (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def softmax(x):
    """Returns the softmax along the last axis, computed in float64."""
    x = np.asarray(x, np.float64)
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
